// Seconds per sample of each boundary at the pace of the live pipeline: a machine whose pace
// changes is compared with itself, within rounds alone.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/record/measurements.hpp"

namespace cachebisect {

/// By boundary.
struct PacedTaus {
  std::vector<std::optional<double>> seconds;  ///< tau; empty if the boundary was not visited
  std::vector<double> stretch;  ///< seconds over the mean of the boundary's blocks, else 1
  std::vector<double> errors;   ///< standard error of seconds over live, as a share
};

/// What the rounds say of boundaries and live pipeline run alongside each other. Holds figures of
/// its own.
class CACHEBISECT_INTERNAL_API RoundRatios {
 public:
  explicit RoundRatios(const Measurements& measured);

  /// At the pace of the mean live block: its seconds times the typical ratio of a round. Means if
  /// there are too few rounds, or if stalls of one of the two shift the mean for certain.
  [[nodiscard]] PacedTaus at_mean_pace() const;
  /// At the pace of this live block; from its own round if that visited a boundary.
  [[nodiscard]] PacedTaus at_pace_of(const BlockRecord& live) const;

 private:
  using Round = std::map<int, double>;  ///< seconds per sample by boundary

  void fill_ratios();
  [[nodiscard]] PacedTaus at_pace(double pace, const Round& round) const;

  std::vector<std::optional<double>> means_;   ///< by boundary
  std::map<int, Round> rounds_;                ///< by number
  std::vector<std::optional<double>> ratios_;  ///< by boundary, to live
  std::vector<double> errors_;                 ///< standard, of their logarithms
};

}  // namespace cachebisect
