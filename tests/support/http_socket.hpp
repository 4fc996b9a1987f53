// Requests over a socket, as any client, well behaved or not, may send them.
#pragma once

#include <algorithm>
#include <cctype>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cachebisect/base/file_descriptor.hpp"

namespace cachebisect::test {

struct HttpReply {
  int status = 0;                              ///< 0: the connection ended without an answer
  std::map<std::string, std::string> headers;  ///< names in small letters
  std::string body;
};

/// A connection to a port of this machine.
class HttpSocket {
 public:
  explicit HttpSocket(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
      throw std::runtime_error("cannot connect to port " + std::to_string(port));
  }

  /// What the server closes or resets is no matter of the sender.
  void send(const std::string& bytes) const {
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t sent =
          ::send(socket_.get(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
      if (sent <= 0) return;
      done += static_cast<std::size_t>(sent);
    }
  }
  /// The next answer; without a body after HEAD.
  HttpReply receive(bool head = false) {
    HttpReply reply;
    while (read_.find("\r\n\r\n") == std::string::npos) {
      if (!read_more()) return reply;
    }
    std::size_t end = read_.find("\r\n\r\n");
    parse_head(read_.substr(0, end), reply);
    read_.erase(0, end + 4);
    const auto length = reply.headers.find("content-length");
    const std::size_t bytes =
        head || length == reply.headers.end() ? 0 : std::stoul(length->second);
    while (read_.size() < bytes && read_more()) {
    }
    reply.body = read_.substr(0, bytes);
    read_.erase(0, bytes);
    return reply;
  }
  HttpReply get(const std::string& path, const std::string& headers = "") {
    send("GET " + path + " HTTP/1.1\r\nHost: test\r\n" + headers + "\r\n");
    return receive();
  }
  /// True once the server has closed the connection and nothing of it is left to read.
  [[nodiscard]] bool is_closed() { return read_.empty() && !read_more(); }

 private:
  bool read_more() {
    char buffer[65536];
    const ssize_t got = ::recv(socket_.get(), buffer, sizeof(buffer), 0);
    if (got > 0) read_.append(buffer, static_cast<std::size_t>(got));
    return got > 0;
  }
  static void parse_head(const std::string& head, HttpReply& reply) {
    reply.status = std::stoi(head.substr(head.find(' ') + 1, 3));
    for (std::size_t at = head.find("\r\n"); at != std::string::npos;) {
      const std::size_t end = head.find("\r\n", at + 2);
      const std::string line = head.substr(at + 2, end == std::string::npos ? end : end - at - 2);
      const std::size_t colon = line.find(": ");
      std::string name = line.substr(0, colon);
      std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
      if (colon != std::string::npos) reply.headers[name] = line.substr(colon + 2);
      at = end;
    }
  }

  FileDescriptor socket_;
  std::string read_;
};

}  // namespace cachebisect::test
