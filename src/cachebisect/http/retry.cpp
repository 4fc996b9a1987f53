#include "cachebisect/http/retry.hpp"

#include <algorithm>
#include <cmath>

namespace cachebisect {

std::optional<double> retry_pause(const RetryLimits& limits, const Tried& tried, double uniform) {
  if (tried.tries >= limits.tries) return std::nullopt;
  const double longest =
      std::min(limits.most_seconds, std::ldexp(limits.first_seconds, tried.tries - 1));
  const double drawn = longest / 2 * (1 + uniform);
  // What comes on top of the server's own pause is drawn, too.
  const double pause = tried.asked_seconds > 0
                           ? std::max(drawn, tried.asked_seconds + longest / 2 * uniform)
                           : drawn;
  if (tried.seconds + pause >= limits.total_seconds) return std::nullopt;
  return pause;
}

}  // namespace cachebisect
