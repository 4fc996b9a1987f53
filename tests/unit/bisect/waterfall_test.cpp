// The rows of the report's table, on machines that change while they are measured.
#include "cachebisect/bisect/analysis/waterfall.hpp"

#include <algorithm>
#include <regex>
#include <string>

#include "support/law_replayer.hpp"
#include "support/measured.hpp"
#include "support/rounds.hpp"
#include <doctest/doctest.h>

#include "cachebisect/bisect/advice/replay_warnings.hpp"
#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/report/writers.hpp"

using namespace cachebisect;
using test::block_of;
using test::LawReplayer;

namespace {

constexpr int kWaterfallRounds = 40;

/// Read, decode and copy in front of a step that becomes twice as fast over the rounds. Live takes
/// 4 s per sample in all of them. Boundary 1 is visited in the first five rounds only, boundary 2,
/// where the step limits, in the last 16.
Measurements faster_and_faster() {
  Measurements measured;
  for (const char* const name : {"read", "decode", "copy"}) {
    measured.chain.stages.push_back({.name = name, .held = Held::host});
  }
  RoundTable& table = measured.verdict.table;
  table = RoundTable::of_boundaries(3);
  for (int round = 0; round < kWaterfallRounds; ++round) {
    const double step = 1 - 0.5 * round / (kWaterfallRounds - 1);
    const double wobble = 1 + 1e-3 * (round % 3);
    table.add(0, block_of(4 * wobble, 1));
    if (round < 5) table.add(1, block_of(4, 1));
    if (round >= kWaterfallRounds - 16) table.add(2, block_of(1.01 * step * wobble, 1));
    table.add(3, block_of(step, 1));
    table.commit();
  }
  measured.verdict.candidates = {0, 1, 2, 3};
  return measured;
}

std::vector<Warning> warnings_of(bool part_changed) {
  Measurements measured = faster_and_faster();
  VerdictState state;
  state.findings.whole.not_stationary = true;
  state.findings.parts.resize(1);
  state.findings.parts[0].part = {1, 2};
  state.findings.parts[0].not_stationary = part_changed;
  return find_replay_warnings(measured, state);
}

/// The percentages of the ceiling in the table's rows.
std::vector<int> shares_of(const std::string& text) {
  std::vector<int> shares;
  const std::regex row("\\n\\+ [^\\n%]* (\\d+)%");
  for (std::sregex_iterator at(text.begin(), text.end(), row); at != std::sregex_iterator(); ++at) {
    shares.push_back(std::stoi((*at)[1]));
  }
  REQUIRE(shares.size() >= 2);
  return shares;
}

}  // namespace

TEST_CASE(
    "a row is a ratio within rounds, and does not rise above the ceiling as the step speeds up") {
  const Measurements measured = faster_and_faster();
  const Waterfall waterfall = make_waterfall(measured, judge(measured).findings);
  const Estimate& row = waterfall.boundaries[2].samples_per_second;
  REQUIRE(row.interval.has_value());
  CHECK(*row.value == doctest::Approx(*waterfall.ceiling.value / 1.01).epsilon(0.005));
  CHECK(row.interval->high < 1.005 * *waterfall.ceiling.value);
  CHECK(row.interval->low > 0.97 * *waterfall.ceiling.value);
}

TEST_CASE("a stage is bursty if most of its drop is in stalls, not for a tail of a steady drop") {
  const Measurements measured = faster_and_faster();
  Findings findings = judge(measured).findings;
  Finding& copy = findings.parts.back();
  REQUIRE(copy.part.single());
  copy.bursty = true;
  copy.drop = 0.6;
  const auto row_is_bursty = [&](double median_drop) {
    copy.median_drop = median_drop;
    return make_waterfall(measured, findings).stages.back().bursty;
  };
  CHECK_FALSE(row_is_bursty(0.55));
  CHECK(row_is_bursty(0.1));
}

TEST_CASE("a boundary of few rounds has no throughput and no row") {
  const Report report = test::report_of(faster_and_faster());
  CHECK(report.boundaries[1].visited);
  CHECK_FALSE(report.boundaries[1].samples_per_second.value.has_value());
  CHECK(report.boundaries[1].seconds_per_sample.has_value());
  const std::string text = to_text(report);
  CHECK(text.find("\n+ copy ") != std::string::npos);
  CHECK(text.find("\n+ read, decode = live ") != std::string::npos);
}

TEST_CASE("an inconclusive sentence gives no figure of a few blocks") {
  const auto sentence_after = [](int rounds) {
    LawReplayer replayer({.stage_seconds = {2e-5, 2e-4}}, 3);
    BisectOptions options{.budget_seconds = 10, .min_drop = 0.5, .explain = false};
    std::string text;
    options.partial = [&](const Report& report) {
      if (report.verdict.rounds == rounds) text = report.verdict.text;
    };
    bisect(replayer, options);
    return text;
  };
  CHECK(sentence_after(3).find("Most seems lost at b.") != std::string::npos);
  CHECK(sentence_after(15).find("Most seems lost at b (") != std::string::npos);
}

TEST_CASE("no row rises above the ceiling in runs in which the step speeds up") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    test::LawChain chain{.stage_seconds = {2e-5, 1e-5, 2e-4, 1e-5, 1e-5, 1e-5, 1e-5, 1e-5},
                         .noise = 0.03};
    chain.step_factor = [](double seconds) { return 1.6 - std::min(1.0, seconds / 4); };
    LawReplayer replayer(chain, seed);
    const Report report = bisect(replayer, {.explain = false});
    CAPTURE(seed);
    for (const BoundaryReport& boundary : report.boundaries) {
      const Estimate& row = boundary.samples_per_second;
      if (!row.value) continue;
      CHECK(row.interval.has_value());
      CHECK(row.interval->low <= *report.ceiling.value);
    }
    for (const int share : shares_of(to_text(report))) CHECK(share <= 100);
  }
}

TEST_CASE("a loss of the whole chain that changed is a warning, unless that of a part is one") {
  REQUIRE(warnings_of(false).size() == 1);
  CHECK(warnings_of(false)[0].code == "not_stationary");
  CHECK(warnings_of(false)[0].text.find("whole chain") != std::string::npos);
  REQUIRE(warnings_of(true).size() == 1);
  CHECK(warnings_of(true)[0].text.find("decode") != std::string::npos);
}
