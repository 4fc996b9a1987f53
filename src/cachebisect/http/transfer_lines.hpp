// Several requests at once from one thread, over connections that are kept. Sources that are built
// with CACHEBISECT_WITH_HTTP_CLIENT alone include this.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "cachebisect/http/curl_functions.hpp"
#include "cachebisect/http/http_transfer.hpp"

namespace cachebisect {

/// Not thread safe.
class TransferLines {
 public:
  /// What a request leaves, told when it has ended.
  using Ended = std::function<void(const HttpResult& result)>;

  /// So many requests at once. `progress` is asked now and then whether they end. Throws
  /// Error(usage) that says what the machine lacks.
  TransferLines(std::size_t lines, HttpProgress progress);
  ~TransferLines();
  TransferLines(const TransferLines&) = delete;
  TransferLines& operator=(const TransferLines&) = delete;

  [[nodiscard]] bool has_room() const noexcept { return running_ < lines_.size(); }
  [[nodiscard]] std::size_t running() const noexcept { return running_; }
  /// `wanted` stays where it is until the end.
  void start(const HttpRead& wanted, int silent_seconds, Ended ended);
  /// Lets the requests go on, and waits for so long, in seconds, if none of them can.
  void run(double seconds);
  /// Ends all; nothing is told.
  void drop() noexcept;

 private:
  struct Line {
    CURL* handle = nullptr;
    std::optional<HttpTransfer> transfer{};
    Ended ended{};
  };
  void finish(CURL* handle, CURLcode code);

  std::shared_ptr<const CurlFunctions> curl_;
  HttpProgress progress_;
  CURLM* multi_;
  std::vector<Line> lines_;
  std::size_t running_ = 0;
};

}  // namespace cachebisect
