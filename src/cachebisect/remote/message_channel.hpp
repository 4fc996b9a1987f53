// Messages over a stream socket: one line each (docs/extend/protocol.md).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cachebisect/base/export.hpp"
#include "cachebisect/remote/socket_stream.hpp"

namespace cachebisect {

/// Bytes of a message with its newline, in either direction.
inline constexpr std::size_t kMaxMessageBytes = std::size_t{1} << 20U;

/// Owns a connected stream socket. Not thread safe.
class CACHEBISECT_INTERNAL_API MessageChannel {
 public:
  /// Makes the socket non-blocking.
  explicit MessageChannel(SocketStream socket);

  /// Writes one message; `text` holds no newline. False if the peer has closed the connection or
  /// does not read within `seconds`. Throws Error(internal) if the message is too long.
  bool send(std::string_view text, double seconds);
  /// Reads what has arrived, without waiting, until about `most` bytes wait. False if the peer has
  /// closed the connection.
  bool read_available(std::size_t most = kMaxMessageBytes);
  /// The next complete message without its newline. Throws Error(internal) if it is too long.
  std::optional<std::string> next();
  /// Bytes that have arrived, and were not returned by next().
  [[nodiscard]] std::string_view waiting() const noexcept { return received_; }
  /// True if a message has begun to arrive and its end has not.
  [[nodiscard]] bool has_partial_message() const noexcept { return !received_.empty(); }
  [[nodiscard]] int descriptor() const noexcept { return socket_.descriptor(); }
  /// Why TLS has failed, as of SocketStream.
  [[nodiscard]] TlsFailure failure() const { return socket_.failure(); }
  /// What has arrived and was not returned by next(). The last call but release().
  [[nodiscard]] std::string take_rest() { return std::exchange(received_, {}); }
  /// Gives the socket away. The last call.
  [[nodiscard]] SocketStream release() { return std::move(socket_); }

 private:
  SocketStream socket_;
  std::string received_;
  std::size_t searched_ = 0;  ///< bytes of received_ without a newline
};

}  // namespace cachebisect
