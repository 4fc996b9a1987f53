// Throughput after a change in thought: what was measured live, times what the fitted law says of
// the change, with an interval from the spread of the live blocks and from the law's misfit.
#pragma once

#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/costs/fitted_law.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

class CACHEBISECT_API Forecast {
 public:
  /// None where no law can be fitted to the report. Reads boundaries, blocks, chain and settings.
  [[nodiscard]] static std::optional<Forecast> of(const Report& report);

  /// Samples/s with `changes`.
  [[nodiscard]] Estimate after(const LawChanges& changes) const;
  /// The value with `likely`, the interval holding both.
  [[nodiscard]] Estimate between(const LawChanges& likely, const LawChanges& other) const;
  /// Samples/s with queues so long that no server ever waits for another; and with none.
  [[nodiscard]] double fully_queued() const { return predict(law_); }
  [[nodiscard]] double unqueued() const;

  [[nodiscard]] const FittedLaw& law() const noexcept { return law_; }
  [[nodiscard]] const LawMisfit& misfit() const noexcept { return misfit_; }
  [[nodiscard]] const Estimate& live() const noexcept { return live_; }

 private:
  struct Block {
    FittedLaw law;
    double stretch = 1;  ///< live throughput over that of this block
  };

  /// Samples/s of a law, with what its threads lose by taking turns on the cores.
  [[nodiscard]] double rate(const FittedLaw& law, const LawChanges& changes) const;
  /// The spread over the live blocks, each with its own costs, of both ways of predicting.
  [[nodiscard]] Interval over_blocks(const LawChanges& changes, double relative,
                                     double absolute) const;
  /// Widened to hold what each suspicion predicts.
  [[nodiscard]] Interval over_suspicions(const LawChanges& changes, Interval interval) const;

  FittedLaw law_;
  LawMisfit misfit_;
  Estimate live_;
  double confidence_ = 0.99;
  double turns_ = 0;  ///< of what taking turns on the cores may cost, so much is lost: 0 to 1
  std::vector<Block> blocks_;
  std::vector<FittedLaw> suspicions_;  ///< that nothing that was measured refutes
};

}  // namespace cachebisect
