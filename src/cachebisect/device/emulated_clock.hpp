// The clock of the emulated accelerator, which falls under load.
#pragma once

#include <deque>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// A clock that is set at the beginning of each piece of work by the load before it. Times are
/// seconds on one clock, and pieces come in order. Not thread safe.
class CACHEBISECT_INTERNAL_API EmulatedClock {
 public:
  /// How far back the load counts.
  static constexpr double kWindow = 0.1;

  /// `drop`: share by which the clock falls at full load, in [0, 1).
  explicit EmulatedClock(double drop) noexcept : drop_(drop) {}

  /// When work that begins at `begin` ends. `seconds`: what it takes at full clock; it takes
  /// 1 / (1 - drop x load) times as long, where the load is the busy share of the window before
  /// it.
  double run(double begin, double seconds);

 private:
  struct Busy {
    double begin;
    double end;
  };
  void forget_before(double time) noexcept;

  double drop_;
  std::deque<Busy> busy_;
  double busy_seconds_ = 0;  // of busy_
};

}  // namespace cachebisect
