#include "cachebisect/remote/message_channel.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include <fcntl.h>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/remote/wait.hpp"

namespace cachebisect {
namespace {

constexpr std::size_t kReadBytes = kTlsRecordBytes;

void check_length(std::size_t bytes, const char* from) {
  if (bytes <= kMaxMessageBytes) return;
  throw Error(ErrorKind::internal, std::string("a message from the ") + from + " is longer than " +
                                       std::to_string(kMaxMessageBytes) + " bytes");
}

}  // namespace

MessageChannel::MessageChannel(SocketStream socket) : socket_(std::move(socket)) {
  const int flags = ::fcntl(descriptor(), F_GETFL);
  if (flags < 0 || ::fcntl(descriptor(), F_SETFL, flags | O_NONBLOCK) < 0) {
    throw Error(ErrorKind::internal, "socket: " + errno_text(errno));
  }
}

bool MessageChannel::send(std::string_view text, double seconds) {
  std::string line(text);
  line += '\n';
  check_length(line.size(), "engine");
  const double deadline = monotonic_seconds() + seconds;
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t sent = socket_.send(rest.data(), rest.size());
    if (sent >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_writable(descriptor(), deadline)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool MessageChannel::read_available(std::size_t most) {
  std::array<char, kReadBytes> buffer{};
  // A peer that never stops sending must not keep the caller here.
  while (received_.size() <= most) {
    const ssize_t count = socket_.receive(buffer.data(), buffer.size());
    if (count > 0) {
      received_.append(buffer.data(), static_cast<std::size_t>(count));
    } else if (count == 0) {
      return false;
    } else if (errno != EINTR) {
      return errno == EAGAIN || errno == EWOULDBLOCK;
    }
  }
  return true;
}

std::optional<std::string> MessageChannel::next() {
  const std::size_t end = received_.find('\n', searched_);
  if (end == std::string::npos) {
    searched_ = received_.size();
    check_length(received_.size() + 1, "adapter");
    return std::nullopt;
  }
  check_length(end + 1, "adapter");
  std::string message = received_.substr(0, end);
  received_.erase(0, end + 1);
  searched_ = 0;
  return message;
}

}  // namespace cachebisect
