// Refuses verdicts about costs so small that the tool's own are in the figure.
#pragma once

#include <optional>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report.hpp"

namespace cachebisect {

/// At so many times the tool's own cost at most a fifth of a figure is the tool's: a named stage
/// would stay the costliest even if all of that cost had fallen on it alone, and its drop would
/// keep four fifths of its size.
inline constexpr double kFloorsToTrust = 5;

/// A cost that lies within kFloorsToTrust of the tool's own. Both in seconds a sample.
struct NearFloor {
  double cost_seconds = 0;
  double floor_seconds = 0;
};

/// Seconds a sample that the tool itself adds to a live pipeline: its cost a sample is shared by
/// the workers, its cost a batch falls on the training thread. None while the floor is not known.
CACHEBISECT_API std::optional<double> floor_seconds(const CacheFacts& facts,
                                                    const ChainDescription& chain);

/// Whether either cost is too small to be told from the tool's own; costs not known count for
/// nothing. Both in seconds a sample, as is the floor.
CACHEBISECT_API std::optional<NearFloor> near_floor(std::optional<double> floor_seconds,
                                                    std::optional<double> live_seconds,
                                                    std::optional<double> named_seconds);

/// Makes a verdict "inconclusive" when the live pipeline, or what the verdict names, costs too
/// little, and returns the warning `near_floor` that says so; else leaves the report as it is.
CACHEBISECT_API std::optional<Warning> refuse_near_floor(Report& report);

}  // namespace cachebisect
