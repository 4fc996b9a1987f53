#include "cachebisect/remote/tcp_socket.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <memory>

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/remote/wait.hpp"

namespace cachebisect {
namespace {

/// A machine that was switched off, or cut off, is noticed after half a minute.
constexpr int kIdleSeconds = 10;
constexpr int kProbeSeconds = 5;
constexpr int kProbes = 4;
constexpr unsigned kUnansweredMilliseconds = 30000;
constexpr int kMaxWaitingConnections = 256;
constexpr std::size_t kMaxNameBytes = 256;

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

[[noreturn]] void refuse_address(const TcpAddress& address, const std::string& why) {
  throw Error(ErrorKind::usage, to_string(address) + ": " + why);
}

/// Empty, with the reason in `why`, if the name is not known.
Addresses resolve(const TcpAddress& address, int flags, std::string& why) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (error != 0) why = gai_strerror(error);
  return {found, &freeaddrinfo};
}

void set_option(const FileDescriptor& socket, int level, int name, int value) {
  static_cast<void>(::setsockopt(socket.get(), level, name, &value, sizeof(value)));
}

/// Messages are short and each is waited for.
void tune(const FileDescriptor& socket) {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, kIdleSeconds);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, kProbeSeconds);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(kUnansweredMilliseconds));
}

FileDescriptor new_socket(const addrinfo& address) {
  return FileDescriptor(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

FileDescriptor connect_one(const addrinfo& address, double deadline, std::string& why) {
  FileDescriptor socket = new_socket(address);
  if (::connect(socket.get(), address.ai_addr, address.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) {
      why = errno_text(errno);
      return {};
    }
    if (!wait_writable(socket.get(), deadline)) {
      why = "no answer";
      return {};
    }
    int error = 0;
    socklen_t size = sizeof(error);
    ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) {
      why = errno_text(error);
      return {};
    }
  }
  tune(socket);
  return socket;
}

bool is_loopback(const sockaddr& address) {
  // The socket API takes every family of addresses through this one type.
  // NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast)
  if (address.sa_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(address);
    return (ntohl(four.sin_addr.s_addr) >> 24U) == IN_LOOPBACKNET;
  }
  const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
  // NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)
  return IN6_IS_ADDR_LOOPBACK(&six.sin6_addr);
}

}  // namespace

TcpAddress parse_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const std::string port = colon == std::string::npos ? "" : text.substr(colon + 1);
  TcpAddress address{text.substr(0, colon), 0};
  const bool bracketed = address.host.starts_with('[') && address.host.ends_with(']');
  if (bracketed) address.host = address.host.substr(1, address.host.size() - 2);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  const bool is_number = error == std::errc{} && end == port.data() + port.size();
  const bool is_known = is_number && address.port > 0 && address.port <= kMaxPort;
  if (address.host.empty() || !is_known ||
      (!bracketed && address.host.find(':') != std::string::npos)) {
    throw Error(ErrorKind::usage, "'" + text + "': HOST:PORT is needed, as in 10.0.0.1:29740");
  }
  return address;
}

std::string to_string(const TcpAddress& address) {
  const bool six = address.host.find(':') != std::string::npos;
  return (six ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

FileDescriptor listen_tcp(const TcpAddress& address) {
  std::string why;
  const Addresses found = resolve(address, AI_PASSIVE, why);
  if (!found) refuse_address(address, why);
  FileDescriptor socket = new_socket(*found);
  if (!socket.is_open()) refuse_address(address, errno_text(errno));
  set_option(socket, SOL_SOCKET, SO_REUSEADDR, 1);
  if (::bind(socket.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      ::listen(socket.get(), kMaxWaitingConnections) != 0) {
    const bool taken = errno == EADDRINUSE;
    refuse_address(address, taken ? "the port is taken; choose another with --port"
                                  : errno_text(errno) + "; choose an address of this machine");
  }
  return socket;
}

int port_of(const FileDescriptor& listener) {
  sockaddr_storage bound{};
  socklen_t size = sizeof(bound);
  // NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast)
  ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&bound), &size);
  return ntohs(bound.ss_family == AF_INET ? reinterpret_cast<sockaddr_in&>(bound).sin_port
                                          : reinterpret_cast<sockaddr_in6&>(bound).sin6_port);
  // NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)
}

FileDescriptor accept_tcp(const FileDescriptor& listener) {
  FileDescriptor socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket.is_open()) {
    tune(socket);
  } else if (errno == EMFILE || errno == ENFILE) {
    throw Error(ErrorKind::usage, "too many connections: " + errno_text(errno) +
                                      "; raise the hard limit of `ulimit -n`");
  }
  return socket;
}

FileDescriptor connect_tcp(const TcpAddress& address, double seconds, std::string& why) {
  const Addresses found = resolve(address, 0, why);
  for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next) {
    FileDescriptor socket = connect_one(*one, monotonic_seconds() + seconds, why);
    if (socket.is_open()) return socket;
  }
  return {};
}

void allow_many_connections() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

bool is_numeric(const std::string& host) {
  std::string why;
  return resolve({host, 0}, AI_NUMERICHOST, why) != nullptr;
}

bool is_loopback(const std::string& host) {
  std::string why;
  const Addresses found = resolve({host, 0}, 0, why);
  return found && is_loopback(*found->ai_addr);
}

std::string machine_name() {
  std::array<char, kMaxNameBytes> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

}  // namespace cachebisect
