#include "cachebisect/remote/forwarding.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include <fcntl.h>

namespace cachebisect {
namespace {

constexpr std::size_t kBytesAtOnce = std::size_t{64} << 10U;

void make_non_blocking(const SocketStream& socket) {
  const int descriptor = socket.descriptor();
  static_cast<void>(::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK));
}

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK; }

}  // namespace

Forwarding::Forwarding(SocketStream first, SocketStream second, std::string for_first)
    : first_(std::move(first)), second_(std::move(second)), to_first_{std::move(for_first)} {
  make_non_blocking(first_);
  make_non_blocking(second_);
}

void Forwarding::add_to(std::vector<pollfd>& polled) const {
  const auto events = [](const Direction& in, const Direction& out) {
    const int reads = in.waiting.empty() && !in.ended ? POLLIN : 0;
    return static_cast<short>(reads | (out.waiting.empty() ? 0 : POLLOUT));
  };
  polled.push_back({first_.descriptor(), events(to_second_, to_first_), 0});
  polled.push_back({second_.descriptor(), events(to_first_, to_second_), 0});
}

bool Forwarding::carry() {
  return carry(first_, second_, to_second_) && carry(second_, first_, to_first_);
}

bool Forwarding::carry(SocketStream& from, SocketStream& to, Direction& direction) {
  std::array<char, kBytesAtOnce> buffer{};
  for (;;) {
    while (!direction.waiting.empty()) {
      const ssize_t sent = to.send(direction.waiting.data(), direction.waiting.size());
      if (sent > 0) {
        direction.waiting.erase(0, static_cast<std::size_t>(sent));
      } else if (errno != EINTR) {
        return would_block();
      }
    }
    if (direction.ended) return false;
    const ssize_t count = from.receive(buffer.data(), buffer.size());
    if (count > 0) {
      direction.waiting.assign(buffer.data(), static_cast<std::size_t>(count));
    } else if (count < 0 && errno != EINTR) {
      if (would_block()) return true;
      direction.ended = true;
    } else if (count == 0) {
      direction.ended = true;
    }
  }
}

}  // namespace cachebisect
