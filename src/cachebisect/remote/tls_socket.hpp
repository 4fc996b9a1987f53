// A socket as OpenSSL reads and writes it. Sources that are built with CACHEBISECT_WITH_TLS alone
// include this.
#pragma once

#include <memory>

#include "cachebisect/remote/tls_functions.hpp"

namespace cachebisect {

/// What a BIO of socket_method() has as its data.
struct TlsSocket {
  int descriptor;
  bool ended = false;  ///< by the other side
  int error = 0;       ///< errno of the last call, or 0
};

/// BIOs that neither wait nor raise a signal, as OpenSSL's own ones of sockets do. It outlives
/// them. Throws Error(internal) if there is no memory.
[[nodiscard]] std::shared_ptr<BIO_METHOD> socket_method();

}  // namespace cachebisect
