#include "cachebisect/launch/await_child.hpp"

#include <csignal>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/remote/stop_event.hpp"
#include "cachebisect/remote/wait.hpp"

namespace cachebisect {
namespace {

/// What a command may take to end after SIGINT.
constexpr double kEndSeconds = 10;

}  // namespace

std::optional<ChildStatus> await_child(ChildProcess& child, const std::stop_token& stop) {
  const StopEvent stopped(stop);
  static_cast<void>(wait_readable({child.descriptor(), stopped.descriptor()}, std::nullopt));
  if (stop.stop_requested()) {
    child.send_signal(SIGINT);
    static_cast<void>(wait_readable({child.descriptor()}, monotonic_seconds() + kEndSeconds));
  }
  return child.status();
}

}  // namespace cachebisect
