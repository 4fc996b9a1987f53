// What a run in one piece leaves of the intervals and the verdict of the blocks.
#include "cachebisect/bisect/analysis/sustained_runs.hpp"

#include <cmath>

#include "support/rounds.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using test::block_of;
using test::has;

namespace {

/// Live takes 1.25, boundary 1 and the ceiling 1: the first stage costs 20%.
RoundTable table_of_blocks() {
  RoundTable table = RoundTable::of_boundaries(2);
  for (int round = 0; round < 16; ++round) {
    const double wobble = 1 + 1e-3 * (round % 3);
    table.add(0, block_of(1.25 * wobble, 1));
    table.add(1, block_of(1.001 * wobble, 1));
    table.add(2, block_of(1, 1));
    table.commit();
  }
  return table;
}

/// Live in one piece at `tau` seconds per sample, known to 1%.
SustainedFigures figures_at(double tau, SustainedChange change) {
  SustainedFigures figures;
  figures.live.emplace();
  figures.live->samples_per_second = {1 / tau, Interval{0.99 / tau, 1.01 / tau}};
  figures.live->change = change;
  figures.loss = {1 - 1 / tau, Interval{1 - 1.01 / tau, 1 - 0.99 / tau}};
  return figures;
}

Findings held(const SustainedFigures& figures) {
  const RoundTable table = table_of_blocks();
  PartEvidence evidence(table, 0.99);
  Findings findings = assess(evidence, {});
  CHECK(hold_sustained(figures, table, findings) ==
        (figures.live->change != SustainedChange::none || figures.ceiling_moved));
  return findings;
}

/// Live as in the blocks, and the step alone in one piece at `tau` seconds per sample.
SustainedFigures ceiling_at(double tau, SustainedChange change) {
  SustainedFigures figures = figures_at(1.25, SustainedChange::none);
  figures.ceiling.emplace();
  figures.ceiling->samples_per_second = {1 / tau, Interval{0.99 / tau, 1.01 / tau}};
  figures.ceiling->change = change;
  figures.ceiling_moved = true;
  figures.loss = {1 - tau / 1.25, Interval{1 - 1.02 * tau / 1.25, 1 - 0.98 * tau / 1.25}};
  return figures;
}

bool holds(const Finding& finding, double drop) {
  return finding.low <= drop && drop <= finding.high;
}

}  // namespace

TEST_CASE("a run in one piece that agrees with the blocks changes no interval") {
  const Findings findings = held(figures_at(1.25, SustainedChange::none));
  REQUIRE(findings.parts.size() == 2);
  CHECK(holds(findings.parts[0], 0.2));
  CHECK_FALSE(holds(findings.parts[0], 0.3));
  CHECK_FALSE(holds(findings.whole, 0.3));
}

TEST_CASE("if live falls in one piece, any stage may cost the difference") {
  const Findings findings = held(figures_at(2, SustainedChange::slower));
  CHECK(holds(findings.whole, 0.5));
  CHECK(holds(findings.whole, 0.2));
  CHECK(holds(findings.parts[0], 0.5));
  CHECK(holds(findings.parts[1], 1 - 1 / 1.75));
  CHECK_FALSE(holds(findings.parts[1], 0.5));
}

TEST_CASE("live that falls may have fallen late, so the slowest group is possible too") {
  SustainedFigures figures = figures_at(2, SustainedChange::slower);
  figures.live->slowest_tau = 2.5;
  const Findings findings = held(figures);
  CHECK(holds(findings.whole, 0.6));
  CHECK(holds(findings.parts[0], 0.6));
  CHECK_FALSE(holds(findings.whole, 0.62));
}

TEST_CASE("if live is faster in one piece, any stage may cost less, but not less than nothing") {
  const Findings findings = held(figures_at(1.1, SustainedChange::faster));
  CHECK(holds(findings.whole, 1 - 1 / 1.1));
  CHECK(holds(findings.parts[0], 1 - 1 / 1.1));
  CHECK(findings.parts[0].low > 0);
  const Findings free = held(figures_at(1.001, SustainedChange::faster));
  CHECK(free.parts[0].low >= 0);
  CHECK(free.parts[0].low < 0.05);
}

TEST_CASE("what a run in one piece shows is held with the error of timers") {
  SustainedFigures figures = figures_at(1.25, SustainedChange::none);
  figures.held_loss = 0.3;
  const RoundTable table = table_of_blocks();
  PartEvidence evidence(table, 0.99);
  Findings findings = assess(evidence, {});
  CHECK(hold_sustained(figures, table, findings));
  CHECK(holds(findings.whole, 0.301));
  CHECK_FALSE(holds(findings.whole, 0.303));
}

TEST_CASE("a clock that may have fallen is held before it is certain") {
  SustainedFigures figures = ceiling_at(1.03, SustainedChange::none);
  figures.ceiling_moved = false;
  figures.ceiling_holds = true;
  const RoundTable table = table_of_blocks();
  PartEvidence evidence(table, 0.99);
  Findings findings = assess(evidence, {});
  CHECK(hold_sustained(figures, table, findings));
  CHECK(holds(findings.parts[0], 1 - 1.03 / 1.25));
  CHECK_FALSE(holds(findings.parts[0], 1 - 1.06 / 1.25));
  CHECK(kind_in_one_piece(VerdictKind::drop, figures, 0.04, 0.05) == VerdictKind::inconclusive);
  CHECK(kind_in_one_piece(VerdictKind::drop, figures, 0.06, 0.05) == VerdictKind::drop);
  figures.ceiling_holds = false;
  CHECK(kind_in_one_piece(VerdictKind::drop, figures, 0.04, 0.05) == VerdictKind::drop);
}

TEST_CASE("a stage that may cost nothing in a long run is not named") {
  const SustainedFigures figures = figures_at(1.1, SustainedChange::faster);
  CHECK(kind_in_one_piece(VerdictKind::drop, figures, 0.08, 0.05) == VerdictKind::drop);
  CHECK(kind_in_one_piece(VerdictKind::drop, figures, 0.01, 0.05) == VerdictKind::inconclusive);
  CHECK(kind_in_one_piece(VerdictKind::spread, figures, 0, 0.05) == VerdictKind::spread);
}

TEST_CASE("if the step alone is slower in one piece, the loss and any stage may be smaller") {
  const Findings findings = held(ceiling_at(1.2, SustainedChange::slower));
  CHECK(holds(findings.whole, 1 - 1.2 / 1.25));
  CHECK(holds(findings.whole, 0.2));
  CHECK(holds(findings.parts[0], 1 - 1.2 / 1.25));
  CHECK(findings.parts[0].low >= 0);
  CHECK_FALSE(holds(findings.parts[0], 0.25));
}

TEST_CASE("if the step alone is faster in one piece, any stage may cost more") {
  const Findings findings = held(ceiling_at(0.9, SustainedChange::faster));
  CHECK(holds(findings.whole, 1 - 0.9 / 1.25));
  CHECK(holds(findings.parts[0], 1 - 0.9 / 1.25));
  CHECK(holds(findings.parts[1], 0.09));
}

TEST_CASE("a verdict does not outlast a ceiling that was one of short blocks") {
  const SustainedFigures near = ceiling_at(1.24, SustainedChange::slower);
  CHECK(kind_in_one_piece(VerdictKind::drop, near, 0.1, 0.05) == VerdictKind::flat);
  CHECK(kind_in_one_piece(VerdictKind::flat, near, 0, 0.05) == VerdictKind::flat);
  const SustainedFigures lower = ceiling_at(1.1, SustainedChange::slower);
  CHECK(kind_in_one_piece(VerdictKind::drop, lower, 0.08, 0.05) == VerdictKind::drop);
  CHECK(kind_in_one_piece(VerdictKind::drop, lower, 0.01, 0.05) == VerdictKind::inconclusive);
  const SustainedFigures faster = ceiling_at(0.9, SustainedChange::faster);
  CHECK(kind_in_one_piece(VerdictKind::flat, faster, 0, 0.05) == VerdictKind::inconclusive);
}

TEST_CASE(
    "a ceiling that changed in one piece is explained by the device's clock, if it is known") {
  Measurements measured;
  measured.chain.stages.resize(2);
  BlockRecord record = test::replay_record(0, 2, block_of(1, 8));
  record.result.device.sm_clock_mhz = 1980;
  measured.blocks.assign(5, record);
  SustainedRuns& runs = measured.sustained.emplace();
  SustainedFigures figures;
  figures.ceiling.emplace();
  figures.ceiling->samples_per_second = {1, Interval{0.9, 1.1}};
  figures.ceiling->change = SustainedChange::slower;
  const auto text = [&] {
    const auto warnings = find_sustained_warnings(measured, {}, figures);
    REQUIRE(warnings.size() == 1);
    return warnings[0].text;
  };
  CHECK(has(text(), "the clock, a power limit or other programs"));
  runs.ceiling.device.sm_clock_mhz = 1500;
  CHECK(has(text(), "SM clock was 1,500 MHz then, and 1,980 MHz in the blocks"));
  runs.ceiling.device.sm_clock_mhz = 1975;
  CHECK(has(text(), "not by the clock of the device"));
  runs.ceiling.device.throttling = Throttling{.power = true};
  CHECK(has(text(), "because of its power limit"));
}
