// The module that emulator/http_connection.hpp describes: the only code that knows cpp-httplib.
#include "cachebisect/emulator/http_connection.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <ctime>
#include <vector>

#include <httplib.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cachebisect/base/clock.hpp"

namespace cachebisect {
namespace {

constexpr double kIdleSeconds = 60;
/// For the head of a request, and for the client to take some bytes of an answer.
constexpr double kPatience = 30;
/// The longest head of a request, which is kept in memory.
constexpr std::size_t kMostHeadBytes = 65536;

timespec time_until(double deadline) {
  constexpr double kNanoseconds = 1e9;
  const double seconds = std::max(deadline - monotonic_seconds(), 0.0);
  const double whole = std::floor(seconds);
  return {static_cast<time_t>(whole), static_cast<long>((seconds - whole) * kNanoseconds)};
}

/// A socket that does not block, read and written until a stop.
class SocketStream final : public httplib::Stream {
 public:
  SocketStream(int socket, int stop) : socket_(socket), stop_(stop) {}

  /// False if no request comes.
  bool await_request() {
    head_bytes_ = 0;
    if (used_ == filled_ && !wait(POLLIN, monotonic_seconds() + kIdleSeconds)) return false;
    deadline_ = monotonic_seconds() + kPatience;
    return true;
  }
  /// False on a stop.
  bool pause_until(double deadline) const {
    pollfd stop{.fd = stop_, .events = POLLIN, .revents = 0};
    while (monotonic_seconds() < deadline) {
      const timespec left = time_until(deadline);
      if (::ppoll(&stop, 1, &left, nullptr) > 0) return false;
    }
    return true;
  }

  [[nodiscard]] bool is_readable() const override { return true; }
  [[nodiscard]] bool is_writable() const override { return true; }
  ssize_t read(char* out, std::size_t size) override {
    if (used_ == filled_ && !fill()) return -1;
    const std::size_t bytes = std::min(size, filled_ - used_);
    std::copy_n(buffer_.data() + used_, bytes, out);
    used_ += bytes;
    head_bytes_ += bytes;
    return head_bytes_ > kMostHeadBytes ? -1 : static_cast<ssize_t>(bytes);
  }
  ssize_t write(const char* bytes, std::size_t size) override {
    for (;;) {
      const ssize_t sent = ::send(socket_, bytes, size, MSG_NOSIGNAL);
      if (sent >= 0) return sent;
      if (errno != EAGAIN && errno != EINTR) return -1;
      if (!wait(POLLOUT, monotonic_seconds() + kPatience)) return -1;
    }
  }
  void get_remote_ip_and_port(std::string& /*address*/, int& /*port*/) const override {}
  void get_local_ip_and_port(std::string& /*address*/, int& /*port*/) const override {}
  /// Only compared with FD_SETSIZE, as if it were given to select().
  [[nodiscard]] socket_t socket() const override { return 0; }

 private:
  bool fill() {
    for (;;) {
      const ssize_t got = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
      if (got > 0) {
        used_ = 0;
        filled_ = static_cast<std::size_t>(got);
        return true;
      }
      if (got == 0 || (errno != EAGAIN && errno != EINTR)) return false;
      if (!wait(POLLIN, deadline_)) return false;
    }
  }
  [[nodiscard]] bool wait(short events, double deadline) const {
    std::array<pollfd, 2> polled{{{socket_, events, 0}, {stop_, POLLIN, 0}}};
    for (;;) {
      const timespec left = time_until(deadline);
      const int ready = ::ppoll(polled.data(), polled.size(), &left, nullptr);
      if (ready > 0) return polled[1].revents == 0;
      if (ready == 0 || errno != EINTR) return false;
    }
  }

  int socket_;
  int stop_;
  double deadline_ = 0;
  std::array<char, 4096> buffer_{};
  std::size_t used_ = 0;
  std::size_t filled_ = 0;
  std::size_t head_bytes_ = 0;
};

/// Sends the bytes of a file, each piece when the model says so.
class PacedFile {
 public:
  PacedFile(ObjectService& service, const SocketStream& stream, ObjectReply reply)
      : service_(&service), stream_(&stream), reply_(std::move(reply)), due_(reply_.due) {}

  bool send(std::size_t done, httplib::DataSink& sink) {
    buffer_.resize(std::min<std::uint64_t>(service_->piece_bytes(), reply_.bytes - done));
    const ssize_t got = ::pread(reply_.file->file.get(), buffer_.data(), buffer_.size(),
                                static_cast<off_t>(reply_.begin + done));
    if (got <= 0) return false;  // The file was cut.
    // On schedule even where the last pause was a little long; a slow client keeps its own pace.
    due_ = std::max(due_, monotonic_seconds() - kMostLateness);
    due_ = service_->send_piece(due_, static_cast<std::uint64_t>(got));
    return stream_->pause_until(due_) && sink.write(buffer_.data(), static_cast<std::size_t>(got));
  }

 private:
  static constexpr double kMostLateness = 0.02;

  ObjectService* service_;
  const SocketStream* stream_;
  ObjectReply reply_;
  double due_;
  std::vector<char> buffer_;
};

class Connection final : public httplib::Server {
 public:
  Connection(ObjectService& service, int socket, int stop)
      : service_(service), stream_(socket, stop) {
    svr_sock_ = 0;  // Else it takes itself for stopped. Nothing reads from it.
    set_keep_alive_max_count(std::size_t{1} << 30U);
    set_keep_alive_timeout(static_cast<time_t>(kIdleSeconds));
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      answer(request, response);
      return HandlerResponse::Handled;
    });
  }

  void serve() {
    // Ranges are ours: the library's own do not know the size of the object.
    const auto own_ranges = [](httplib::Request& request) { request.ranges.clear(); };
    bool closed = false;
    while (!closed && !last_ && stream_.await_request()) {
      if (!process_request(stream_, false, closed, own_ranges)) return;
    }
  }

 private:
  void answer(const httplib::Request& request, httplib::Response& response) {
    ObjectReply reply = service_.answer({.method = request.method,
                                         .path = request.path,
                                         .range = request.get_header_value("Range"),
                                         .if_range = request.get_header_value("If-Range")},
                                        monotonic_seconds());
    // A body that is not read would be taken for the next request.
    const bool has_body =
        request.has_header("Content-Length") && request.get_header_value("Content-Length") != "0";
    last_ = reply.last_of_connection || has_body || request.has_header("Transfer-Encoding");
    if (!stream_.pause_until(reply.due)) last_ = true;
    response.status = reply.status;
    for (const auto& [name, value] : reply.headers) response.set_header(name, value);
    if (last_) response.set_header("Connection", "close");
    if (!reply.text.empty()) response.set_content(reply.text, "text/plain");
    if (reply.bytes == 0) return;
    const std::size_t bytes = reply.bytes;
    auto file = std::make_shared<PacedFile>(service_, stream_, std::move(reply));
    response.set_content_provider(
        bytes, "application/octet-stream",
        [file](std::size_t done, std::size_t /*left*/, httplib::DataSink& sink) {
          return file->send(done, sink);
        });
  }

  ObjectService& service_;
  SocketStream stream_;
  bool last_ = false;
};

}  // namespace
}  // namespace cachebisect

extern "C" CACHEBISECT_INTERNAL_API void cachebisect_serve_connection(
    cachebisect::ObjectService& service, int socket, int stop_descriptor) {
  try {
    cachebisect::Connection(service, socket, stop_descriptor).serve();
  } catch (const std::exception&) {
    // Such as no memory for one connection: it ends, the others go on.
  }
}
