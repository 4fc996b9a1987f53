// Notices that the process was suspended: its own ticks stopped.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// A thread that ticks every 10 ms while armed. Ticks come late on a loaded machine, but not by
/// half a second; a stop, a debugger or a suspended machine makes such a gap. One thread arms and
/// reads.
class CACHEBISECT_API SuspensionWatch {
 public:
  SuspensionWatch();
  ~SuspensionWatch();
  SuspensionWatch(const SuspensionWatch&) = delete;
  SuspensionWatch& operator=(const SuspensionWatch&) = delete;

  /// Begins to tick and forgets earlier gaps.
  void arm();
  /// Stops ticking; true when a gap of more than 500 ms lay between two ticks since arm().
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
