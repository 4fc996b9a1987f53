#include "cachebisect/bisect/phases/answers_rule.hpp"

#include <algorithm>
#include <cmath>

#include "cachebisect/bisect/evidence/arm_ratio.hpp"
#include "cachebisect/bisect/phases/explain_columns.hpp"
#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

/// Half width, in log throughput, that an interval need not be narrower than, as a share of the
/// gain or loss that it is about.
constexpr double kNarrowShare = 0.1;

bool is_narrow_for(const LogRatio& ratio, double about) {
  return is_narrow(ratio, std::max(kKnownTo, kNarrowShare * std::abs(about)));
}

}  // namespace

bool AnswersRule::known(const RoundTable& rounds, int arm, double loss) const {
  const double alpha = alpha_ / 2;
  const Arm& asked = rounds.arms()[static_cast<std::size_t>(arm)];
  const auto gain_is_known = [&] {
    const LogRatio gain = log_ratio(rounds, kLive, arm, kMainShare * alpha_);
    const auto by_ceiling = log_ratio(rounds, kCeiling, arm, (1 - kMainShare) * alpha_);
    return is_narrow_for(gain, gain.value) || is_narrow_for(by_ceiling, gain.value);
  };
  if (!asked.ranks.is_all()) return gain_is_known();
  if (!asked.observed) return log_ratio(rounds, kLive, arm, alpha_).interval.has_value();
  switch (asked.kind) {
    case ArmKind::bypass:
      return gain_is_known();
    case ArmKind::shadow:
      return is_narrow_for(log_ratio(rounds, arm, kCeiling, alpha), loss) &&
             log_ratio(rounds, kLive, arm, alpha).interval.has_value();
    default:
      return true;
  }
}

bool AnswersRule::enough(const RoundTable& rounds) const {
  const double loss = std::log(rounds.tau(kLive) / rounds.tau(kCeiling));
  for (int arm = first_; arm <= rounds.last(); ++arm) {
    if (!known(rounds, arm, loss)) return false;
  }
  return true;
}

}  // namespace cachebisect
