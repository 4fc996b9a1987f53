// The loop in one piece, held against its short blocks: storage with burst credits, read-ahead and
// clocks recover between blocks, and a ring that each block finds empty is full in a long run.
#pragma once

#include <optional>
#include <span>

#include "cachebisect/base/estimate.hpp"
#include "cachebisect/base/export.hpp"
#include "cachebisect/protocol/block.hpp"

namespace cachebisect {

enum class SustainedChange { none, slower, faster };

struct SustainedFigure {
  Estimate samples_per_second;  ///< of the second half
  double slowest_tau = 0;       ///< seconds per sample of the slowest group of that half
  double seconds = 0;           ///< for how long it ran, untimed steps not counted
  /// Against the blocks: only what is certified and above 2%.
  SustainedChange change = SustainedChange::none;
};

/// `run` was timed in groups; `block_taus`: seconds per sample of each block of the same arm. A
/// change is certified if the intervals of the two medians do not meet and the means differ by more
/// than 2% in the same direction. Empty if the run has fewer than 16 groups or there are too few
/// blocks for an interval.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<SustainedFigure> sustained_figure(
    const BlockResult& run, std::span<const double> block_taus, double confidence);

}  // namespace cachebisect
