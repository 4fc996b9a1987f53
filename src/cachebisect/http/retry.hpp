// Whether a request is made again, and when.
#pragma once

#include <optional>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

struct RetryLimits {
  int tries = 8;               ///< of a request, the first included
  double first_seconds = 0.1;  ///< before the second; it doubles from one to the next
  double most_seconds = 10;
  double total_seconds = 120;  ///< of all tries together
};

/// What is known of a request that did not succeed.
struct Tried {
  int tries = 1;             ///< so far
  double seconds = 0;        ///< since the first began
  double asked_seconds = 0;  ///< the pause that the server asks for; 0: none
};

/// Seconds until the next try: half of the pause is drawn by `uniform`, from [0, 1), so that
/// clients that failed together do not come back together. No less than the server asks for. Empty:
/// there is no other try.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<double> retry_pause(const RetryLimits& limits,
                                                                         const Tried& tried,
                                                                         double uniform);

}  // namespace cachebisect
