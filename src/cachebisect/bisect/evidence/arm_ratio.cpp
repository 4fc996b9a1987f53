#include "cachebisect/bisect/evidence/arm_ratio.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "cachebisect/bisect/evidence/table_evidence.hpp"

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

/// Width over value; infinite if there is none.
double relative_width(const Estimate& estimate) {
  if (!estimate.value || !estimate.interval) return std::numeric_limits<double>::infinity();
  return (estimate.interval->high - estimate.interval->low) / *estimate.value;
}

}  // namespace

LogRatio log_ratio(const ConfidenceSequence& evidence, double value) {
  LogRatio ratio{value, std::nullopt};
  Interval found = evidence.interval();
  const bool open = !std::isfinite(found.low) || !std::isfinite(found.high);
  if (open || found.low > found.high) return ratio;
  const double centre = evidence.centre();
  found.low = std::min({found.low, centre - kMinHalfWidth, value});
  found.high = std::max({found.high, centre + kMinHalfWidth, value});
  ratio.interval = found;
  return ratio;
}

LogRatio log_ratio(const RoundTable& rounds, int slow, int fast, double alpha) {
  TableEvidence evidence(2 / alpha);
  evidence.update(rounds, slow, fast);
  return log_ratio(evidence.sequence(), std::log(rounds.tau(slow) / rounds.tau(fast)));
}

Estimate ratio_of(const LogRatio& ratio) {
  return mapped(ratio, [](double log) { return std::exp(log); });
}

Estimate drop_of(const LogRatio& ratio) { return mapped(ratio, theta_to_drop); }

Estimate change_of(const LogRatio& ratio) {
  return mapped(ratio, [](double log) { return std::expm1(log); });
}

Estimate narrower(const Estimate& first, const Estimate& second) {
  return relative_width(second) < relative_width(first) ? second : first;
}

bool is_narrow(const LogRatio& ratio, double half_width) {
  return ratio.interval && ratio.interval->high - ratio.interval->low <= 2 * half_width;
}

}  // namespace cachebisect
