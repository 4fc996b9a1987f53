// What a test may ask of the clock: whether some time has passed. A sleep is never too short, but
// how much longer it takes depends on the machine's load, so there is nothing here that tells it.
#pragma once

#include "cachebisect/base/clock.hpp"

namespace cachebisect::test {

/// True once the monotonic clock reads `time` seconds.
inline bool has_passed(double time) { return monotonic_seconds() >= time; }

/// The moment when something begins.
class Beginning {
 public:
  /// True if that was at least so many seconds ago.
  [[nodiscard]] bool is_past(double seconds) const { return has_passed(moment_ + seconds); }
  /// True if `time`, a reading of the monotonic clock, is not before it.
  [[nodiscard]] bool is_before(double time) const { return moment_ <= time; }

 private:
  double moment_ = monotonic_seconds();
};

}  // namespace cachebisect::test
