// Throughput after a hypothetical change: what was measured live, times what the cost model says of
// the change, with an interval from the spread of the live blocks and from the model's misfit.
#pragma once

#include <optional>
#include <vector>

#include "cachebisect/base/estimate.hpp"
#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/costs/cost_model.hpp"
#include "cachebisect/bisect/costs/fit.hpp"
#include "cachebisect/bisect/record/measurements.hpp"

namespace cachebisect {

/// A plain value; holds figures of its own.
class CACHEBISECT_INTERNAL_API Forecast {
 public:
  /// Fits the cost model of a run. Empty if it cannot be fitted.
  [[nodiscard]] static std::optional<Forecast> of(const Measurements& measured);

  /// Samples/s with `changes`.
  [[nodiscard]] Estimate after(const CostChanges& changes) const;
  /// The value with `likely`; the interval holds both.
  [[nodiscard]] Estimate between(const CostChanges& likely, const CostChanges& other) const;
  /// Samples/s with queues so long that no server ever waits for another.
  [[nodiscard]] double fully_queued() const { return predict(costs_); }
  /// Relative standard deviation between live blocks of the seconds of a stage (0-based): the law
  /// knows means only, and a queue hides no variation that is longer than itself.
  [[nodiscard]] double variation(std::size_t stage) const;
  /// Samples/s with no queues at all.
  [[nodiscard]] double unqueued() const;

  [[nodiscard]] const CostModel& costs() const noexcept { return costs_; }
  [[nodiscard]] const Misfit& misfit() const noexcept { return misfit_; }
  [[nodiscard]] const Estimate& live() const noexcept { return live_; }

 private:
  struct Block {
    CostModel costs;
    double stretch = 1;  ///< live throughput over that of this block
  };

  /// As after(), as if it were known what the change adds.
  [[nodiscard]] Estimate after_exactly(const CostChanges& changes) const;
  /// Samples/s by a cost model, less what its threads lose by taking turns on the cores.
  [[nodiscard]] double rate(const CostModel& costs, const CostChanges& changes) const;
  /// The spread over the live blocks, each with its own costs, of both ways of predicting.
  [[nodiscard]] Interval over_blocks(const CostChanges& changes, double relative,
                                     double absolute) const;
  /// Widened to hold the predictions of the alternatives.
  [[nodiscard]] Interval over_alternatives(const CostChanges& changes, Interval interval) const;
  /// No version of the input is faster than the training step alone.
  void limit_to_ceiling(Estimate& estimate, const CostChanges& changes) const;

  CostModel costs_;
  Misfit misfit_;
  Estimate live_;
  std::optional<double> ceiling_;  ///< the upper end of its interval, samples/s
  double confidence_ = 0.99;
  double turns_ = 0;  ///< the share, 0 to 1, of the cost of taking turns that live pays
  std::vector<Block> blocks_;
  std::vector<CostModel> alternatives_;  ///< that the measurements do not refute
};

}  // namespace cachebisect
