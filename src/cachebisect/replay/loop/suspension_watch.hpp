// Detects that the process was suspended: its own ticks stopped.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// A thread that ticks every 10 ms while armed. On a loaded machine ticks are late, but not by half
/// a second; a stopped process, a debugger or a suspended machine causes such a gap. Used by one
/// thread.
class CACHEBISECT_INTERNAL_API SuspensionWatch {
 public:
  SuspensionWatch();
  ~SuspensionWatch();
  SuspensionWatch(const SuspensionWatch&) = delete;
  SuspensionWatch& operator=(const SuspensionWatch&) = delete;

  /// Starts ticking and forgets earlier gaps.
  void arm();
  /// Stops ticking; true if two ticks since arm() were more than 500 ms apart.
  bool disarm();

 private:
  void run(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool armed_ = false;
  double last_tick_ = 0;
  double longest_gap_ = 0;
  std::jthread thread_;  // last: it uses the members above
};

}  // namespace cachebisect
