// TCP connections between the machines of a job.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/file_descriptor.hpp"

namespace cachebisect {

inline constexpr int kMaxPort = 65535;

/// Where a socket listens or connects to.
struct TcpAddress {
  std::string host;  ///< a name or a number; IPv6 numbers without brackets
  int port = 0;
};

/// Reads HOST:PORT and [IPv6]:PORT. Throws Error(usage).
[[nodiscard]] CACHEBISECT_INTERNAL_API TcpAddress parse_address(const std::string& text);
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string to_string(const TcpAddress& address);

/// A socket that does not block and listens on this address alone; port 0 takes a free one. Throws
/// Error(usage) naming the address if there is no such address or the port is taken.
[[nodiscard]] CACHEBISECT_INTERNAL_API FileDescriptor listen_tcp(const TcpAddress& address);
/// The port that a listening socket has.
[[nodiscard]] CACHEBISECT_INTERNAL_API int port_of(const FileDescriptor& listener);
/// The next connection; not open if none is waiting. Throws Error(usage) if this process has as
/// many open as it may have.
[[nodiscard]] FileDescriptor accept_tcp(const FileDescriptor& listener);
/// Waits for at most `seconds` per address of the host. Not open if
/// nothing answers, with the reason in `why`. The
/// connection ends by itself when the other machine has not been reached for half a minute.
[[nodiscard]] CACHEBISECT_INTERNAL_API FileDescriptor connect_tcp(const TcpAddress& address,
                                                                  double seconds, std::string& why);

/// Lets this process have as many connections open as the system allows it.
CACHEBISECT_INTERNAL_API void allow_many_connections() noexcept;

/// True if `host` is a number and no name.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool is_numeric(const std::string& host);
/// True if `host` is an address that other machines cannot reach.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool is_loopback(const std::string& host);
/// The name of this machine.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string machine_name();

}  // namespace cachebisect
