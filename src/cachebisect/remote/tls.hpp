// TLS 1.3 on the TCP connections between the machines of a job.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <sys/types.h>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// Most data that TLS sends as one piece.
inline constexpr std::size_t kTlsRecordBytes = std::size_t{16} << 10U;

struct TlsFailure {
  std::string text;        ///< in the words of OpenSSL; empty: none
  bool untrusted = false;  ///< it is the certificate of the other side
};

/// TLS on one socket, which stays its owner's. Nothing waits, or raises a signal. Not thread safe.
class CACHEBISECT_INTERNAL_API TlsSession {
 public:
  virtual ~TlsSession();
  /// As recv() and send() of a socket that does not block: -1 with errno, which is EPROTO where
  /// failure() says why. After EAGAIN, write() is given the same data again, and may be given more.
  /// read() also makes the handshake; write() before its end fails with ENOTCONN.
  virtual ssize_t read(char* buffer, std::size_t bytes) = 0;
  virtual ssize_t write(const char* data, std::size_t bytes) = 0;
  /// As read(), with 1 when both sides have agreed.
  virtual ssize_t handshake() = 0;
  [[nodiscard]] virtual const TlsFailure& failure() const noexcept = 0;
};

/// What the sessions of one side share; they may outlive it. Thread safe.
class CACHEBISECT_INTERNAL_API Tls {
 public:
  virtual ~Tls();
  /// `host`: name or number that the other side's certificate must be for; empty for the engine,
  /// which asks for none. Throws Error(usage) if that is neither.
  [[nodiscard]] virtual std::unique_ptr<TlsSession> begin(int socket,
                                                          const std::string& host) const = 0;
};

/// The engine's side: a certificate, with those that have signed it, and its key; empty: in the
/// same file. Throws Error(usage) naming the file that cannot be used, or what this build or
/// machine lacks.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::shared_ptr<const Tls> tls_of_engine(
    const std::string& certificate_file, const std::string& key_file);
/// A relay's side: it trusts the certificates of this file, and what they have signed. Throws as
/// tls_of_engine() does.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::shared_ptr<const Tls> tls_of_relay(
    const std::string& certificate_file);

}  // namespace cachebisect
