// A connected stream socket, as it is or with TLS on it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include <sys/types.h>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/file_descriptor.hpp"
#include "cachebisect/remote/tls.hpp"

namespace cachebisect {

/// Move only. Not thread safe.
class CACHEBISECT_INTERNAL_API SocketStream {
 public:
  SocketStream() = default;
  /// Without TLS.
  SocketStream(FileDescriptor socket)  // NOLINT(google-explicit-constructor)
      : socket_(std::move(socket)) {}
  /// `tls`: null for a stream without. `host`: as of Tls::begin(), which says what is thrown.
  SocketStream(FileDescriptor socket, const Tls* tls, const std::string& host = "");

  /// As send() and recv() of the system: neither waits or raises a signal. A buffer for receive()
  /// holds kTlsRecordBytes at least, so that poll() knows of all that has not been received.
  ssize_t send(const char* data, std::size_t bytes);
  ssize_t receive(char* buffer, std::size_t bytes);
  /// 1 once both sides have agreed, which they have without TLS; else as receive(). Needed before
  /// the side that has connected sends.
  ssize_t handshake() { return tls_ ? tls_->handshake() : 1; }
  /// Why TLS has failed; empty if it has not, or is not used.
  [[nodiscard]] TlsFailure failure() const { return tls_ ? tls_->failure() : TlsFailure{}; }
  [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }
  [[nodiscard]] bool is_open() const noexcept { return socket_.is_open(); }

 private:
  FileDescriptor socket_;
  std::unique_ptr<TlsSession> tls_;
};

}  // namespace cachebisect
