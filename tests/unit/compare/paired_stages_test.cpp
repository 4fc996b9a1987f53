// What each stage costs in two jobs, from the counters of their blocks in turns.
#include "cachebisect/compare/paired_stages.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "cachebisect/compare/job_pair.hpp"

using namespace cachebisect;

namespace {

StageMatches matches_of(const ChainDescription& a, const ChainDescription& b) {
  return {identities_of(a.stages), identities_of(b.stages)};
}

ChainDescription chain_of(const std::vector<std::string>& names) {
  ChainDescription chain;
  for (const std::string& name : names) {
    StageDescription stage;
    stage.name = name;
    chain.stages.push_back(stage);
  }
  return chain;
}

std::vector<ComparedFigure> stages_of(const PairedRounds& rounds, const std::vector<std::string>& a,
                                      const std::vector<std::string>& b) {
  const ChainDescription chain = chain_of(a);
  return paired_stages(rounds, chain, matches_of(chain, chain_of(b)), 0.99);
}

/// A block of 10 samples whose stages take these microseconds for each.
BlockRecord block(const Arm& arm, int round, const std::vector<double>& microseconds) {
  BlockRecord record{.phase = BlockPhase::measure, .round = round};
  record.arm = arm;
  record.result.seconds = 1e-3;
  record.result.steps = 1;
  record.result.samples = 10;
  for (const double each : microseconds) {
    record.result.stages.push_back({.samples = 10, .busy_seconds = 10 * each * 1e-6});
  }
  return record;
}

/// Blocks of A and B in `rounds` rounds; the machine is slower in each of them than before.
PairedRounds measured(int rounds, std::vector<double> a, std::vector<double> b) {
  PairedRounds paired;
  paired.table = RoundTable({Arm{}, JobPair::other_job()});
  for (int round = 0; round < rounds; ++round) {
    for (double& each : a) each *= 1.02;
    for (double& each : b) each *= 1.02;
    paired.records.push_back(block(JobPair::other_job(), round, b));
    paired.records.push_back(block(Arm{}, round, a));
  }
  return paired;
}

}  // namespace

TEST_CASE("stages of the same name are compared within rounds, wherever they stand") {
  const auto figures = stages_of(measured(20, {100, 300}, {50, 330, 100}), {"read", "crop"},
                                 {"new", "crop", "read"});
  REQUIRE(figures.size() == 2);
  CHECK(figures[0].id == "stages.read.busy");
  CHECK(figures[0].unit == FigureUnit::seconds_per_sample);
  CHECK(*figures[0].change.value == doctest::Approx(0));
  CHECK(figures[1].stage == "crop");
  CHECK(*figures[1].change.value == doctest::Approx(0.1));
  REQUIRE(figures[1].change.interval);
  // The machine's drift of 50% is in both blocks of a round.
  CHECK(figures[1].change.interval->low == doctest::Approx(0.1).epsilon(0.05));
  CHECK(figures[1].kind() == ChangeKind::higher);
}

TEST_CASE("a stage that was renamed is compared with the only other one of its type") {
  ChainDescription a = chain_of({"read Old", "crop", "map f"});
  ChainDescription b = chain_of({"read New", "crop", "map g", "map h"});
  for (ChainDescription* chain : {&a, &b}) {
    chain->stages[0].type = "read.dataset";
    for (std::size_t i = 1; i < chain->stages.size(); ++i) chain->stages[i].type = "map.custom";
  }
  const auto figures =
      paired_stages(measured(20, {100, 10, 50}, {400, 10, 50, 50}), a, matches_of(a, b), 0.99);
  REQUIRE(figures.size() == 2);  // "map f" has two stages to choose from
  CHECK(figures[0].stage == "read Old");
  CHECK(*figures[0].change.value == doctest::Approx(3));
  CHECK(figures[1].stage == "crop");
}

TEST_CASE("few rounds have no interval, and small stages no line") {
  const auto figures =
      stages_of(measured(2, {100, 0.5}, {100, 0.7}), {"read", "tiny"}, {"read", "tiny"});
  REQUIRE(figures.size() == 1);
  CHECK_FALSE(figures[0].change.interval);
  CHECK(figures[0].kind() == ChangeKind::unknown);
}

TEST_CASE("void blocks, blocks without counters and stages without samples do not count") {
  PairedRounds paired = measured(8, {100}, {100});
  paired.records[0].result.is_void = true;
  paired.records[2].result.stages.clear();
  paired.records[4].result.stages[0].samples = 0;
  for (BlockRecord& record : paired.records) {
    if (record.round < 3 && record.has_counters()) record.result.stages[0].busy_seconds *= 1000;
  }
  const auto figures = stages_of(paired, {"read"}, {"read"});
  REQUIRE(figures.size() == 1);
  CHECK(*figures[0].a.value < 200e-6);
  CHECK(stages_of(paired, {"read"}, {"other"}).empty());
  CHECK(stages_of({}, {"read"}, {"read"}).empty());
}
