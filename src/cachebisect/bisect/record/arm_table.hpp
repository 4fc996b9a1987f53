// What was measured of arms of any kind, each run once a round: seconds and samples, counters, and
// the ratio of any two arms with its interval.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/statistics.hpp"
#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect {

/// Log of the seconds a sample of one arm over those of another.
struct LogRatio {
  double value = 0;                  ///< of all seconds over all samples
  std::optional<Interval> interval;  ///< holds the value; none while either end is open
};

/// The ratio itself, with its interval.
[[nodiscard]] CACHEBISECT_API Estimate ratio_of(const LogRatio& ratio);

/// Sums over the blocks of one arm in complete rounds.
struct ArmTotals {
  double seconds = 0;
  double samples = 0;
  double starved_seconds = 0;
  double cpu_seconds = 0;
  std::vector<StageCounters> stages;  ///< one a stage of the chain; empty when not observed
};

class CACHEBISECT_API ArmTable {
 public:
  explicit ArmTable(std::vector<Arm> arms);

  void add(std::size_t arm, const BlockResult& block);
  void commit();   ///< the round is complete; every arm was added
  void discard();  ///< it is not: thrown away

  [[nodiscard]] const std::vector<Arm>& arms() const noexcept { return arms_; }
  /// Index of an arm; none when it is not among them.
  [[nodiscard]] std::optional<std::size_t> find(const Arm& arm) const;
  [[nodiscard]] std::size_t rounds() const noexcept { return rounds_; }
  [[nodiscard]] const ArmTotals& totals(std::size_t arm) const { return totals_.at(arm); }
  /// Seconds a sample; needs a complete round.
  [[nodiscard]] double tau(std::size_t arm) const;
  /// `slow` over `fast` by the e-process of evidence.hpp at error `alpha`, both directions
  /// together. Needs a complete round.
  [[nodiscard]] LogRatio log_ratio(std::size_t slow, std::size_t fast, double alpha) const;

 private:
  std::vector<Arm> arms_;
  std::vector<std::vector<double>> log_taus_;  ///< by arm, one a complete round
  std::vector<BlockResult> open_;
  std::vector<ArmTotals> totals_;
  std::size_t rounds_ = 0;
};

}  // namespace cachebisect
