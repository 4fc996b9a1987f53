#include "cachebisect/emulator/storage_emulator.hpp"

#include <atomic>
#include <list>
#include <thread>
#include <utility>

#include <sys/socket.h>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/own_module.hpp"
#include "cachebisect/remote/stop_event.hpp"
#include "cachebisect/remote/tcp_socket.hpp"
#include "cachebisect/remote/wait.hpp"

namespace cachebisect {
namespace {

/// Each has a thread. More wait in the system's queue.
constexpr std::size_t kMostConnections = 1024;
constexpr double kFullPause = 0.02;

ServeConnection open_http_module() {
#ifdef CACHEBISECT_WITH_HTTP_SERVER
  return open_own_module("libcachebisect_http_server.so", kServeConnection)
      ->function<ServeConnection>(kServeConnection);
#else
  throw Error(ErrorKind::usage,
              "this build has no HTTP server: install cpp-httplib 0.11 to 0.14 (Debian's "
              "libcpp-httplib-dev) and build again");
#endif
}

/// The threads of the connections that are open.
class Connections {
 public:
  Connections(ServeConnection serve, ObjectService& service, int stop_descriptor)
      : serve_(serve), service_(service), stop_descriptor_(stop_descriptor) {}

  void add(FileDescriptor socket) {
    Connection& connection = all_.emplace_back();
    connection.socket = std::move(socket);
    connection.thread = std::jthread([this, &connection] {
      serve_(service_, connection.socket.get(), stop_descriptor_);
      // The client is told now; the descriptor is closed with the next connection.
      ::shutdown(connection.socket.get(), SHUT_RDWR);
      connection.ended = true;
    });
  }
  /// Closes those that have ended; false if there is room for no other.
  bool tidy() {
    all_.remove_if([](const Connection& connection) { return connection.ended.load(); });
    return all_.size() < kMostConnections;
  }

 private:
  struct Connection {
    FileDescriptor socket;
    std::atomic<bool> ended{false};
    std::jthread thread;  // last: it uses the others
  };

  ServeConnection serve_;
  ObjectService& service_;
  int stop_descriptor_;
  std::list<Connection> all_;
};

/// Not open if no connection is waiting, or no descriptor is left for it.
FileDescriptor next_connection(const FileDescriptor& listener) {
  try {
    FileDescriptor socket = accept_tcp(listener);
    return socket;
  } catch (const Error&) {
    sleep_until(monotonic_seconds() + kFullPause);
    return {};
  }
}

}  // namespace

StorageEmulator::StorageEmulator(const EmulatorOptions& options)
    : serve_connection_(open_http_module()),
      service_(options.folder, options.storage),
      address_(options.address),
      listener_(listen_tcp({options.address, options.port})) {}

std::string StorageEmulator::url() const {
  return "http://" + to_string(TcpAddress{address_, port_of(listener_)});
}

EmulatorTotals StorageEmulator::serve(const std::stop_token& stop) {
  allow_many_connections();
  const StopEvent stopped(stop);
  {
    Connections connections(serve_connection_, service_, stopped.descriptor());
    while (!stop.stop_requested()) {
      if (!connections.tidy()) {
        sleep_until(monotonic_seconds() + kFullPause);
        continue;
      }
      static_cast<void>(wait_readable({listener_.get(), stopped.descriptor()}, std::nullopt));
      FileDescriptor socket = next_connection(listener_);
      if (socket.is_open()) connections.add(std::move(socket));
    }
  }
  listener_ = FileDescriptor();
  return service_.totals();
}

}  // namespace cachebisect
