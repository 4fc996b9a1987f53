// Refuses verdicts about costs so small that the tool's own are in the figure.
#pragma once

#include <optional>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/analysis/waterfall.hpp"
#include "cachebisect/bisect/evidence/decision.hpp"
#include "cachebisect/bisect/record/measurements.hpp"

namespace cachebisect {

/// At this many times the tool's own cost at most a fifth of a figure is the tool's: a named stage
/// would stay the costliest even if all of that cost fell on it alone, and its drop would keep four
/// fifths of its size.
inline constexpr double kFloorsToTrust = 5;

/// What the tool itself adds to a live pipeline, seconds per sample.
struct FloorSeconds {
  double of_samples = 0;  ///< carrying samples from stage to stage, shared by the workers
  double whole = 0;       ///< plus the cost of batches on the way to the training thread
};

/// Empty while the floor is not known.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<FloorSeconds> floor_seconds(
    const CacheFacts& facts, const ChainDescription& chain);

/// True if a cost cannot be told from the tool's own; both in seconds per sample.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool near_floor(double cost_seconds,
                                                       double floor_seconds) noexcept;

/// The warning `near_floor` that takes the place of a verdict if the live pipeline, or what the
/// verdict names, costs too little; empty if the verdict stands. The live pipeline and a whole loss
/// contain all of the floor. A named stage contains the cost of samples and, if it is the copy, of
/// batches: the other stages pay that live and replayed alike.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<Warning> near_floor_warning(
    const Measurements& measured, const Waterfall& waterfall, const VerdictState& state);

}  // namespace cachebisect
