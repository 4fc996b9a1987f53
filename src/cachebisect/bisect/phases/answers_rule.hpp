// When the arms that explain a verdict were compared often enough.
#pragma once

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/record/round_runner.hpp"

namespace cachebisect {

/// Enough when each answer is known within 1% to either side, or within a tenth of the gain or loss
/// that it is about. Needs live as column 0 and, unless the table only measures the probes, the
/// ceiling as column 1.
class CACHEBISECT_INTERNAL_API AnswersRule final : public StoppingRule {
 public:
  /// `alpha`: error of each answer. `first`: the column from which on there are questions.
  explicit AnswersRule(double alpha, int first = 0) : alpha_(alpha), first_(first) {}
  [[nodiscard]] bool enough(const RoundTable& rounds) const override;

 private:
  /// `loss`: log of live over ceiling.
  [[nodiscard]] bool known(const RoundTable& rounds, int arm, double loss) const;

  double alpha_;
  int first_;
};

}  // namespace cachebisect
