// How the host launches work on the emulated accelerator: what a launch costs, and how many fit.
#pragma once

#include <cstddef>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// The host's side of a stream: launches one after the other, each of which holds an entry of the
/// queue until it has run. Arithmetic only: the caller sleeps until free_at(). Times are seconds on
/// the clock that `now` is read from. Not thread safe.
class CACHEBISECT_INTERNAL_API LaunchQueue {
 public:
  /// `seconds`: of the host per launch. `entries`: at least 1.
  LaunchQueue(double seconds, std::size_t entries);

  /// The host comes to launch at `now`. Returns when it has done so: after its launch before, and
  /// after an entry of the queue is free. What the host overslept at its last wait does not count,
  /// unless it has `resumed`: waited for the device since.
  double launch(double now, bool resumed) noexcept;
  /// When the work of the last launch ends.
  void ends(double seconds) noexcept;
  /// True if launching takes time.
  [[nodiscard]] bool costs() const noexcept { return seconds_ > 0; }

  /// When the host has made its launches, and may go on.
  [[nodiscard]] double free_at() const noexcept { return free_at_; }
  /// The host, which came at `came`, went on at `now`: it slept if free_at() was later than `came`.
  void went_on(double came, double now) noexcept;

 private:
  double seconds_;
  std::vector<double> ends_;  // of the last launches, by entry
  std::size_t next_ = 0;      // entry
  double free_at_ = 0;
  double overslept_ = 0;
};

}  // namespace cachebisect
