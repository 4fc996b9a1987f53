// A server of one object that answers ranges, or whatever a test wants instead.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "support/socket_server.hpp"

namespace cachebisect::test {

struct AskedRange {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
};

/// What the head of a request asks for; never whole objects.
inline AskedRange asked_range(const std::string& head) {
  const std::string name = "Range: bytes=";
  const std::size_t at = head.find(name) + name.size();
  const std::size_t dash = head.find('-', at);
  const std::uint64_t begin = std::stoull(head.substr(at, dash - at));
  return {begin, std::stoull(head.substr(dash + 1)) + 1 - begin};
}

/// The part of `content` that is asked for.
inline Said part_answer(const std::string& head, const std::string& content,
                        const std::string& etag = "\"1\"") {
  const AskedRange range = asked_range(head);
  const std::string body = content.substr(range.begin, range.bytes);
  return {http_answer("206 Partial Content",
                      "ETag: " + etag + "\r\nContent-Range: bytes " + std::to_string(range.begin) +
                          "-" + std::to_string(range.begin + body.size() - 1) + "/" +
                          std::to_string(content.size()) + "\r\n",
                      body)};
}

/// Serves `content`; `instead` may answer the n-th request, from 0 on, in another way.
class ObjectServer {
 public:
  using Instead = std::function<std::optional<Said>(int number, const std::string& head)>;

  explicit ObjectServer(
      std::string content, Instead instead = [](int, const std::string&) { return std::nullopt; })
      : content_(std::move(content)), instead_(std::move(instead)) {}

  [[nodiscard]] std::string url(const std::string& path = "/x") const { return server_.url(path); }
  [[nodiscard]] int requests() const { return server_.requests(); }

 private:
  std::string content_;
  Instead instead_;
  std::atomic<int> number_{0};
  SocketServer server_{[this](const std::string& head) {
    const std::optional<Said> other = instead_(number_++, head);
    return other ? *other : part_answer(head, content_);
  }};  // last: it uses the others
};

/// Bytes that differ from their neighbours.
inline std::string object_content(std::size_t bytes) {
  std::string text(bytes, ' ');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>('a' + (i * 7 + i / 26) % 26);
  return text;
}

}  // namespace cachebisect::test
