// What a run in one piece leaves of the intervals and the verdict of the blocks.
#include "cachebisect/bisect/report/sustained_runs.hpp"

#include <cmath>

#include "support/rounds.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using test::block_of;

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
        (figures.live->change != SustainedChange::none));
  return findings;
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

TEST_CASE("a stage that may cost nothing in a long run is not named") {
  const SustainedFigures figures = figures_at(1.1, SustainedChange::faster);
  CHECK(sustained_verdict(VerdictKind::drop, figures, 0.08, 0.05) == VerdictKind::drop);
  CHECK(sustained_verdict(VerdictKind::drop, figures, 0.01, 0.05) == VerdictKind::inconclusive);
  CHECK(sustained_verdict(VerdictKind::spread, figures, 0, 0.05) == VerdictKind::spread);
}
