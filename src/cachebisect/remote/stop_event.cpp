#include "cachebisect/remote/stop_event.hpp"

#include <cerrno>

#include <sys/eventfd.h>

#include "cachebisect/base/error.hpp"

namespace cachebisect {
namespace {

FileDescriptor make_event() {
  FileDescriptor event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.is_open()) {
    throw Error(ErrorKind::internal, "eventfd: " + errno_text(errno));
  }
  return event;
}

}  // namespace

StopEvent::StopEvent(const std::stop_token& stop)
    : event_(make_event()),
      on_stop_(stop, [event = event_.get()] { static_cast<void>(::eventfd_write(event, 1)); }) {}

}  // namespace cachebisect
