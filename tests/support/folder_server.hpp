// A server of the files of a folder, which answers ranges alone.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>

#include "support/files.hpp"
#include "support/object_server.hpp"

namespace cachebisect::test {

/// The first `refusals` requests are answered with 503.
class FolderServer {
 public:
  explicit FolderServer(std::string folder, int refusals = 0)
      : folder_(std::move(folder)), refusals_(refusals) {}

  [[nodiscard]] std::string url(const std::string& path = "") const { return server_.url(path); }
  [[nodiscard]] int requests() const { return server_.requests(); }

 private:
  [[nodiscard]] Said answer(const std::string& head) {
    if (refusals_-- > 0) return {http_answer("503 Slow Down", "", "")};
    const std::size_t begin = head.find(' ') + 1;
    const std::string file = folder_ + head.substr(begin, head.find(' ', begin) - begin);
    if (!std::filesystem::exists(file)) return {http_answer("404 Not Found", "", "")};
    return part_answer(head, read_file(file));
  }

  std::string folder_;
  std::atomic<int> refusals_;
  SocketServer server_{[this](const std::string& head) { return answer(head); }};
};

}  // namespace cachebisect::test
