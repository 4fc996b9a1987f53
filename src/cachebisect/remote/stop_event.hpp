// A stop token as a file descriptor, for waits in poll().
#pragma once

#include <functional>
#include <stop_token>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/file_descriptor.hpp"

namespace cachebisect {

/// Its descriptor becomes readable when a stop is requested, and stays readable.
class CACHEBISECT_INTERNAL_API StopEvent {
 public:
  /// Throws Error(internal) if the system has no descriptor left.
  explicit StopEvent(const std::stop_token& stop);

  [[nodiscard]] int descriptor() const noexcept { return event_.get(); }

 private:
  FileDescriptor event_;
  std::stop_callback<std::function<void()>> on_stop_;  // last: it uses the event
};

}  // namespace cachebisect
