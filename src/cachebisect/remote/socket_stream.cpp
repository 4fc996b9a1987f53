#include "cachebisect/remote/socket_stream.hpp"

#include <sys/socket.h>

namespace cachebisect {

SocketStream::SocketStream(FileDescriptor socket, const Tls* tls, const std::string& host)
    : socket_(std::move(socket)),
      tls_(tls != nullptr ? tls->begin(socket_.get(), host) : nullptr) {}

ssize_t SocketStream::send(const char* data, std::size_t bytes) {
  if (tls_) return tls_->write(data, bytes);
  return ::send(socket_.get(), data, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
}

ssize_t SocketStream::receive(char* buffer, std::size_t bytes) {
  if (tls_) return tls_->read(buffer, bytes);
  return ::recv(socket_.get(), buffer, bytes, MSG_DONTWAIT);
}

}  // namespace cachebisect
