#include "cachebisect/bisect/evidence/arm_ratio.hpp"

#include <algorithm>
#include <cmath>

#include "cachebisect/bisect/evidence/confidence_sequence.hpp"

namespace cachebisect {
namespace {

template <typename Function>
Estimate mapped(const LogRatio& ratio, const Function& function) {
  Estimate out{function(ratio.value), std::nullopt};
  if (ratio.interval) {
    out.interval = Interval{function(ratio.interval->low), function(ratio.interval->high)};
  }
  return out;
}

}  // namespace

LogRatio log_ratio(const RoundTable& rounds, int slow, int fast, double alpha) {
  LogRatio ratio;
  ratio.value = std::log(rounds.tau(slow) / rounds.tau(fast));
  ConfidenceSequence sequence(2 / alpha);
  for (const double d : rounds.log_ratios(slow, fast)) sequence.add(d);
  Interval found = sequence.interval();
  if (!std::isfinite(found.low) || !std::isfinite(found.high)) return ratio;
  const double centre = sequence.centre();
  found.low = std::min({found.low, centre - kMinHalfWidth, ratio.value});
  found.high = std::max({found.high, centre + kMinHalfWidth, ratio.value});
  ratio.interval = found;
  return ratio;
}

Estimate ratio_of(const LogRatio& ratio) {
  return mapped(ratio, [](double log) { return std::exp(log); });
}

Estimate drop_of(const LogRatio& ratio) { return mapped(ratio, theta_to_drop); }

Estimate change_of(const LogRatio& ratio) {
  return mapped(ratio, [](double log) { return std::expm1(log); });
}

bool is_narrow(const LogRatio& ratio, double half_width) {
  return ratio.interval && ratio.interval->high - ratio.interval->low <= 2 * half_width;
}

}  // namespace cachebisect
