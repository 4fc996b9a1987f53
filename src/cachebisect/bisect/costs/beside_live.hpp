// Seconds a sample of each boundary as they were beside the live pipeline: a machine whose pace
// changes is compared with itself within rounds alone.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

struct BesideLive {
  std::vector<std::optional<double>> seconds;  ///< tau by boundary; none where not visited
  std::vector<double> stretch;  ///< by boundary: seconds over the mean of its blocks, else 1
  std::vector<double> errors;   ///< by boundary: standard error of seconds over live, as a share
};

/// What the rounds of a report say of boundaries and live pipeline side by side. Holds figures of
/// its own.
class CACHEBISECT_API RoundRatios {
 public:
  explicit RoundRatios(const Report& report);

  /// At the pace of the mean live block: its seconds times the typical ratio of a round. Means
  /// where there are too few rounds, or where stalls of one of the two shift the mean for certain.
  [[nodiscard]] BesideLive beside_mean() const;
  /// At the pace of this live block, from its own round where that visited a boundary.
  [[nodiscard]] BesideLive beside(const BlockRecord& live) const;

 private:
  using Round = std::map<int, double>;  ///< seconds a sample by boundary

  void fill_ratios();
  [[nodiscard]] BesideLive at_pace(double pace, const Round& round) const;

  std::vector<std::optional<double>> means_;   ///< by boundary
  std::map<int, Round> rounds_;                ///< by number
  std::vector<std::optional<double>> ratios_;  ///< by boundary, to live
  std::vector<double> errors_;                 ///< standard, of their logarithms
};

}  // namespace cachebisect
