#ifdef CACHEBISECT_WITH_TLS
#include "cachebisect/remote/tls_socket.hpp"

#include <cerrno>
#include <cstddef>

#include <sys/socket.h>

#include "cachebisect/base/error.hpp"

namespace cachebisect {
namespace {

struct FreeMethod {
  void operator()(BIO_METHOD* method) const noexcept { tls_functions().bio_meth_free(method); }
};

/// Calls `work` on the socket of `bio`. `retry`: what OpenSSL is told if the socket is not ready.
template <class Work>
int use_socket(BIO* bio, int retry, const Work& work) {
  const TlsFunctions& tls = tls_functions();
  auto& socket = *static_cast<TlsSocket*>(tls.bio_get_data(bio));
  tls.bio_clear_flags(bio, BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY);
  ssize_t count = -1;
  do {
    count = work(socket.descriptor);
  } while (count < 0 && errno == EINTR);
  socket.error = count < 0 ? errno : 0;
  if (count == 0) socket.ended = true;
  if (socket.error == EAGAIN || socket.error == EWOULDBLOCK) tls.bio_set_flags(bio, retry);
  return static_cast<int>(count);
}

int read_socket(BIO* bio, char* buffer, int bytes) {
  return use_socket(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY, [&](int socket) {
    return ::recv(socket, buffer, static_cast<std::size_t>(bytes), MSG_DONTWAIT);
  });
}

int write_socket(BIO* bio, const char* data, int bytes) {
  return use_socket(bio, BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY, [&](int socket) {
    return ::send(socket, data, static_cast<std::size_t>(bytes), MSG_NOSIGNAL | MSG_DONTWAIT);
  });
}

long control_socket(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

}  // namespace

std::shared_ptr<BIO_METHOD> socket_method() {
  const TlsFunctions& tls = tls_functions();
  std::shared_ptr<BIO_METHOD> method(
      tls.bio_meth_new(BIO_TYPE_SOURCE_SINK | tls.bio_get_new_index(), "socket"), FreeMethod{});
  if (!method) throw Error(ErrorKind::internal, "OpenSSL has no memory");
  tls.bio_meth_set_read(method.get(), read_socket);
  tls.bio_meth_set_write(method.get(), write_socket);
  tls.bio_meth_set_ctrl(method.get(), control_socket);
  return method;
}

}  // namespace cachebisect
#endif
