// One read over HTTP, as libcurl's callbacks see it. Sources that are built with
// CACHEBISECT_WITH_HTTP_CLIENT alone include this.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "cachebisect/http/curl_functions.hpp"
#include "cachebisect/http/http_read.hpp"

namespace cachebisect {

/// Stays where it is while libcurl runs it. Keeps references to all it is given.
class HttpTransfer {
 public:
  HttpTransfer(const CurlFunctions& curl, CURL* handle, const HttpRead& wanted,
               const HttpProgress& progress)
      : curl_(curl), handle_(handle), wanted_(wanted), progress_(progress) {}
  HttpTransfer(const HttpTransfer&) = delete;
  HttpTransfer& operator=(const HttpTransfer&) = delete;
  ~HttpTransfer() = default;

  /// Sets up the handle. A server that sends nothing for so long is given up.
  void prepare(int silent_seconds);
  /// What came of it, once libcurl has run it. Call it once.
  [[nodiscard]] HttpResult finish(CURLcode code);

 private:
  static constexpr long kOkStatus = 200;
  static constexpr long kPartStatus = 206;
  static constexpr std::size_t kMostHeaderBytes = 262'144;

  template <class Value>
  void set(CURLoption option, Value value) {
    curl_.easy_setopt(handle_, option, value);
  }
  template <class Value>
  Value get(CURLINFO info) const {
    Value value{};
    curl_.easy_getinfo(handle_, info, &value);
    return value;
  }

  void set_limits();
  void set_access();
  void add_header(const std::string& line);
  void set_callbacks();
  static std::size_t on_body(const char* bytes, std::size_t one, std::size_t size, void* self);
  static std::size_t on_header(const char* bytes, std::size_t one, std::size_t size, void* self);
  static int on_time(void* self, curl_off_t total, curl_off_t now, curl_off_t up,
                     curl_off_t uploaded);
  bool take_body(std::span<const std::byte> bytes);
  void keep(std::span<const std::byte> bytes) const;
  bool take_header(std::string_view line);
  [[nodiscard]] std::uint64_t most_bytes() const;
  /// What was asked for, or less if the object may end within it, and does.
  [[nodiscard]] std::uint64_t expected_bytes() const;
  void read_facts();
  void judge(CURLcode code);
  [[nodiscard]] bool may_pass(CURLcode code) const;
  [[nodiscard]] std::string problem(CURLcode code) const;

  const CurlFunctions& curl_;
  CURL* handle_;
  const HttpRead& wanted_;
  const HttpProgress& progress_;
  HttpResult result_;
  std::array<char, CURL_ERROR_SIZE> error_{};
  std::string user_agent_;
  std::string range_;
  std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers_{nullptr,
                                                                       curl_.slist_free_all};
  std::string content_range_;
  std::string etag_;
  std::string modified_;
  std::string refusal_;  ///< the begin of its words
  std::size_t header_bytes_ = 0;
  std::size_t refusal_bytes_ = 0;
  bool cut_ = false;
  bool too_much_ = false;
  bool ignored_range_ = false;
  bool endless_head_ = false;
};

}  // namespace cachebisect
