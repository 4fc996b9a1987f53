#include "cachebisect/remote/socket_listener.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cachebisect/base/error.hpp"

namespace cachebisect {
namespace {

constexpr int kMaxWaiting = 64;  ///< connections that have not been accepted

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::usage, "socket " + path + ": " + why);
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    refuse(path,
           "a path of 1 to " + std::to_string(sizeof(address.sun_path) - 1) + " bytes is needed");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

}  // namespace

SocketListener::SocketListener(std::string path) : path_(std::move(path)) {
  const sockaddr_un address = address_of(path_);
  FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) refuse(path_, errno_text(errno));
  // Before bind(), which gives the file its mode.
  static_cast<void>(::fchmod(socket.get(), S_IRUSR | S_IWUSR));
  // The socket API takes every family of addresses through this one type.
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
  const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
  if (::bind(socket.get(), generic, sizeof(address)) != 0) {
    refuse(path_, errno == EADDRINUSE ? "exists already; remove it or choose another path"
                                      : errno_text(errno));
  }
  if (::listen(socket.get(), kMaxWaiting) != 0) {
    const int error = errno;
    ::unlink(path_.c_str());
    refuse(path_, errno_text(error));
  }
  socket_ = std::move(socket);
}

SocketListener::~SocketListener() { close(); }

void SocketListener::close() noexcept {
  if (!socket_.is_open()) return;
  ::unlink(path_.c_str());
  socket_ = {};
}

FileDescriptor SocketListener::accept() const {
  return FileDescriptor(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

}  // namespace cachebisect
