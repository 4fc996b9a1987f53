#include "cachebisect/remote/wait.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <string>

#include <poll.h>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/file_descriptor.hpp"

namespace cachebisect {
namespace {

constexpr double kMaxSlice = 3600;  ///< seconds; poll() takes an int of milliseconds

/// Milliseconds for poll(), rounded up so that a wait never ends early.
int remaining_milliseconds(std::optional<double> deadline) {
  if (!deadline) return -1;
  const double seconds = std::clamp(*deadline - monotonic_seconds(), 0.0, kMaxSlice);
  return static_cast<int>(std::ceil(1e3 * seconds));
}

/// True if one of `polled` is ready; false after `deadline`.
bool poll_until(std::vector<pollfd>& polled, std::optional<double> deadline) {
  for (;;) {
    const int ready = ::poll(polled.data(), polled.size(), remaining_milliseconds(deadline));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) {
      throw Error(ErrorKind::internal, "poll: " + errno_text(errno));
    }
    if (deadline && monotonic_seconds() >= *deadline) return false;
  }
}

}  // namespace

std::vector<int> wait_readable(const std::vector<int>& descriptors,
                               std::optional<double> deadline) {
  std::vector<pollfd> polled;
  polled.reserve(descriptors.size());
  for (const int descriptor : descriptors) polled.push_back({descriptor, POLLIN, 0});
  std::vector<int> readable;
  if (!poll_until(polled, deadline)) return readable;
  for (const pollfd& one : polled) {
    if (one.revents != 0) readable.push_back(one.fd);
  }
  return readable;
}

bool wait_writable(int descriptor, double deadline) {
  std::vector<pollfd> polled{{descriptor, POLLOUT, 0}};
  return poll_until(polled, deadline);
}

}  // namespace cachebisect
