// Reads objects, or parts of them, over HTTP as a loader does: connections are kept. By libcurl,
// which is opened when it is needed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

struct HttpRead {
  std::string url;
  std::optional<std::uint64_t> begin{};  ///< empty: the whole object
  std::uint64_t bytes = 0;               ///< of the part; 0 of a whole object: not known
};

struct HttpResult {
  enum class Outcome {
    whole,      ///< all that was asked for
    cut,        ///< by the caller
    throttled,  ///< 429 or 503
    failed,
  };
  Outcome outcome = Outcome::failed;
  std::uint64_t bytes = 0;  ///< of the object, received
  bool is_part = false;     ///< the server answered with the part that was asked for (206)
  std::optional<std::uint64_t> object_bytes{};  ///< as far as the server said it
  double connect_seconds = 0;                   ///< of a new connection, with TLS
  int connections = 0;                          ///< that were made
  double retry_seconds = 0;                     ///< asked for by a server that throttles
  std::string problem{};                        ///< of one that failed: where, and what is wrong
};

/// Told the bytes that have just come (0: only time has passed); true ends the read.
using HttpProgress = std::function<bool(std::uint64_t bytes)>;

struct CurlFunctions;

/// One connection to each server, kept. Not thread safe: one per thread.
class CACHEBISECT_INTERNAL_API HttpClient {
 public:
  /// Gives up on a server that sends nothing for so long. Throws Error(usage) that says what this
  /// build or machine lacks.
  explicit HttpClient(int silent_seconds = 5);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Follows a few redirects, and keeps nothing of the body. More bytes than were asked for, or
  /// than an object may have, end it.
  [[nodiscard]] HttpResult read(const HttpRead& wanted, const HttpProgress& progress);

 private:
  class Transfer;

  std::shared_ptr<const CurlFunctions> curl_;
  void* handle_;
  int silent_seconds_;
};

/// Whole objects of more are not read to their end.
inline constexpr std::uint64_t kMostObjectBytes = std::uint64_t{64} << 20U;

/// Without user, password, query and fragment, which may be secrets.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string shown_url(const std::string& url);

}  // namespace cachebisect
