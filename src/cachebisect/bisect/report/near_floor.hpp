// Refuses verdicts about costs so small that the tool's own are in the figure.
#pragma once

#include <optional>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// At so many times the tool's own cost at most a fifth of a figure is the tool's: a named stage
/// would stay the costliest even if all of that cost had fallen on it alone, and its drop would
/// keep four fifths of its size.
inline constexpr double kFloorsToTrust = 5;

/// What the tool itself adds to a live pipeline, seconds a sample.
struct FloorSeconds {
  double of_samples = 0;  ///< carrying samples from stage to stage, shared by the workers
  double whole = 0;       ///< and what batches cost on the way to the training thread
};

/// None while the floor is not known.
CACHEBISECT_API std::optional<FloorSeconds> floor_seconds(const CacheFacts& facts,
                                                          const ChainDescription& chain);

/// Whether a cost is too small to be told from the tool's own; both in seconds a sample.
CACHEBISECT_API bool near_floor(double cost_seconds, double floor_seconds) noexcept;

/// Makes a verdict "inconclusive" when the live pipeline, or what the verdict names, costs too
/// little, and returns the warning `near_floor` that says so; else leaves the report as it is. The
/// live pipeline and a whole loss hold all of the floor; a named stage holds what samples cost and,
/// where it is the copy, what batches cost: the other stages pay that live and replayed alike.
CACHEBISECT_API std::optional<Warning> refuse_near_floor(Report& report);

}  // namespace cachebisect
