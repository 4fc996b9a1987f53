// What the runs in one piece say about the verdict of the blocks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/analysis/waterfall.hpp"
#include "cachebisect/bisect/evidence/stalls.hpp"
#include "cachebisect/bisect/evidence/sustained.hpp"
#include "cachebisect/bisect/phases/verdict_search.hpp"
#include "cachebisect/bisect/record/measurements.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

struct SustainedFigures {
  std::optional<SustainedFigure> live;
  std::optional<SustainedFigure> ceiling;
  /// Share of throughput that live loses against the ceiling in one piece.
  Estimate loss;
  /// What the interval of the whole loss is widened to hold; empty for a flat chain if only live
  /// ran in one piece.
  std::optional<double> held_loss;
  /// The training step alone ran in one piece, on a device of its own whose clock may fall. On the
  /// cpu, a clock that falls is that of the input too.
  bool ceiling_holds = false;
  /// On a device of its own, it runs at another speed there than in its blocks.
  bool ceiling_moved = false;
  /// The stage (1-based) whose own seconds per sample grew most, if live became slower; else 0.
  int slower_stage = 0;
  StalledShare stalls;  ///< of live, in all blocks and in the run, which meets more of them
  /// The most that the whole input may cost with such stalls.
  double stalled_loss = 0;
  /// The blocks say flat, or are open and stay below the bar, and such stalls do not exclude a loss
  /// above it.
  bool stalled = false;
  /// Stalls cost more than the part that leads (stalls_outweigh()).
  bool outweighed = false;
  double slower_seconds = 0;  ///< of slower_stage per sample, over the whole run
  double usual_seconds = 0;   ///< of slower_stage per sample, in the blocks
};

[[nodiscard]] CACHEBISECT_INTERNAL_API SustainedFigures describe_sustained(
    const Measurements& measured, const VerdictState& state, const Waterfall& waterfall);

/// Widens the intervals of the blocks to what a long run allows: the whole loss to hold that of the
/// long run and what stalls may cost a flat job; each part to hold the whole of the difference from
/// the blocks, because nothing tells to which part it belongs. A difference of the step alone need
/// not be certain if its clock may fall. False if nothing changed.
CACHEBISECT_INTERNAL_API bool hold_sustained(const SustainedFigures& figures,
                                             const RoundTable& rounds, Findings& findings);
/// The verdict that the run in one piece leaves of the blocks' verdict. `least`: the least that the
/// named part costs by the intervals of hold_sustained().
[[nodiscard]] CACHEBISECT_INTERNAL_API VerdictKind
kind_in_one_piece(VerdictKind kind, const SustainedFigures& figures, double least, double min_drop);
/// Why a verdict was taken back; ends in a full stop.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string sustained_text(const Measurements& measured,
                                                                  const Waterfall& waterfall,
                                                                  const SustainedFigures& figures);
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<Warning> find_sustained_warnings(
    const Measurements& measured, const Waterfall& waterfall, const SustainedFigures& figures);

}  // namespace cachebisect
