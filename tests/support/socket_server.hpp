// A server that answers whatever a test wants, right or wrong.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <string>
#include <thread>

#include <poll.h>
#include <sys/socket.h>

#include "cachebisect/base/file_descriptor.hpp"
#include "cachebisect/remote/tcp_socket.hpp"

namespace cachebisect::test {

struct Said {
  std::string bytes;
  bool close = false;    ///< then the connection ends
  bool endless = false;  ///< repeats the bytes until the client has had enough
};

/// Answers each request by a function of its head, which several threads call. A request to which
/// nothing is said waits until the client gives up.
class SocketServer {
 public:
  using Answer = std::function<Said(const std::string& head)>;

  explicit SocketServer(Answer answer)
      : answer_(std::move(answer)),
        listener_(listen_tcp({"127.0.0.1", 0})),
        thread_([this] { accept_all(); }) {}
  ~SocketServer() {
    ended_ = true;
    thread_.join();
  }
  SocketServer(const SocketServer&) = delete;
  SocketServer& operator=(const SocketServer&) = delete;

  [[nodiscard]] std::string url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(port_of(listener_)) + path;
  }
  [[nodiscard]] int connections() const { return accepted_; }
  [[nodiscard]] int requests() const { return requests_; }

 private:
  static constexpr int kPollMilliseconds = 20;

  void accept_all() {
    while (!ended_) {
      pollfd polled{listener_.get(), POLLIN, 0};
      if (poll(&polled, 1, kPollMilliseconds) <= 0) continue;
      const int socket = accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) continue;
      ++accepted_;
      connections_.emplace_back([this, file = FileDescriptor(socket)] { serve(file.get()); });
    }
  }
  void serve(int socket) {
    std::string read;
    while (!ended_) {
      const std::size_t end = read.find("\r\n\r\n");
      if (end == std::string::npos) {
        if (!read_more(socket, read)) return;
        continue;
      }
      ++requests_;
      const Said said = answer_(read.substr(0, end));
      read.erase(0, end + 4);
      do {
        if (!send_all(socket, said.bytes)) return;
      } while (said.endless && !ended_);
      if (said.close) return;
    }
  }
  bool read_more(int socket, std::string& read) {
    pollfd polled{socket, POLLIN, 0};
    if (poll(&polled, 1, kPollMilliseconds) <= 0) return true;
    char buffer[4096];
    const ssize_t got = recv(socket, buffer, sizeof(buffer), 0);
    if (got > 0) read.append(buffer, static_cast<std::size_t>(got));
    return got > 0;
  }
  static bool send_all(int socket, const std::string& bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t sent = send(socket, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
      if (sent <= 0) return false;
      done += static_cast<std::size_t>(sent);
    }
    return true;
  }

  Answer answer_;
  FileDescriptor listener_;
  std::atomic<bool> ended_{false};
  std::atomic<int> accepted_{0};
  std::atomic<int> requests_{0};
  std::list<std::jthread> connections_;  // of thread_
  std::jthread thread_;
};

/// "HTTP/1.1 200 OK", headers with their line ends, the length of the body, the body.
inline std::string http_answer(const std::string& status, const std::string& headers,
                               const std::string& body) {
  return "HTTP/1.1 " + status + "\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace cachebisect::test
