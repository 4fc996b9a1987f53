#include "cachebisect/bisect/costs/beside_live.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace cachebisect;

namespace {

constexpr int kRounds = 40;

/// Boundaries 0 and 1 of a chain of one stage: seconds a sample by round.
struct Table {
  std::vector<double> live = std::vector<double>(kRounds, 1e-3);
  std::vector<double> cached = std::vector<double>(kRounds, 0.5e-3);
};

void add(Report& report, int round, int boundary, double tau) {
  BlockRecord record;
  record.round = round;
  record.arm.boundary = boundary;
  record.result.samples = 100;
  record.result.seconds = 100 * tau;
  report.blocks.push_back(record);
}

Report report_of(const Table& table) {
  Report report;
  report.boundaries.resize(2);
  double live = 0;
  double cached = 0;
  for (std::size_t i = 0; i < table.live.size(); ++i) {
    add(report, static_cast<int>(i), 0, table.live[i]);
    add(report, static_cast<int>(i), 1, table.cached[i]);
    live += table.live[i] / kRounds;
    cached += table.cached[i] / kRounds;
  }
  report.boundaries[0].seconds_per_sample = live;
  report.boundaries[1].seconds_per_sample = cached;
  return report;
}

}  // namespace

TEST_CASE("one slow block does not move the ratio of two boundaries") {
  Table table;
  table.cached[7] *= 60;
  const BesideLive beside = RoundRatios(report_of(table)).beside_mean();
  CHECK(*beside.seconds[0] == doctest::Approx(1e-3));
  CHECK(*beside.seconds[1] == doctest::Approx(0.5e-3));
  // Of all seconds of boundary 1, so much is its own.
  CHECK(beside.stretch[1] == doctest::Approx(0.5e-3 * kRounds / (0.5e-3 * (kRounds + 59))));
}

TEST_CASE("stalls that come back again and again are what is paid") {
  Table table;
  for (std::size_t i = 0; i < table.live.size(); i += 3) table.live[i] *= 3;
  const Report report = report_of(table);
  const BesideLive beside = RoundRatios(report).beside_mean();
  CHECK(*beside.seconds[0] == *report.boundaries[0].seconds_per_sample);
  CHECK(*beside.seconds[1] == doctest::Approx(0.5e-3));
}

TEST_CASE("a live block is compared with its own round") {
  Table table;
  table.live[5] *= 4;
  table.cached[5] *= 4;
  Report report = report_of(table);
  const BlockRecord& slow = report.blocks[10];
  REQUIRE(slow.round == 5);
  const BesideLive beside = RoundRatios(report).beside(slow);
  CHECK(*beside.seconds[0] == doctest::Approx(4e-3));
  CHECK(*beside.seconds[1] == doctest::Approx(2e-3));
}

TEST_CASE("void blocks, pilots and boundaries never visited tell nothing") {
  Report report = report_of({});
  report.boundaries.emplace_back();
  add(report, -1, 1, 9);
  add(report, 3, 1, 9);
  report.blocks.back().result.is_void = true;
  const BesideLive beside = RoundRatios(report).beside_mean();
  CHECK(*beside.seconds[1] == doctest::Approx(0.5e-3));
  CHECK_FALSE(beside.seconds[2].has_value());
  CHECK(beside.stretch[2] == 1);
}
