// A read over HTTP, and what came of it: plain values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace cachebisect {

struct ObjectAccess;

struct HttpRead {
  std::string url;
  std::optional<std::uint64_t> begin{};  ///< empty: the whole object
  std::uint64_t bytes = 0;               ///< of the part; 0 of a whole object: not known
  bool may_end = false;                  ///< the object may end within these bytes
  std::string shown{};                   ///< in messages; empty: the URL without its secrets
  /// Where the bytes go, one after the other; empty: they are not kept.
  std::array<std::span<std::byte>, 2> into{};
  const ObjectAccess* access = nullptr;  ///< null: that of any server
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
  long status = 0;                              ///< of the answer; 0: there was none
  std::string tag{};                            ///< ETag, else Last-Modified
  bool may_pass = false;  ///< the server, or the way to it, may do better at another try
};

/// Told the bytes that have just come (0: only time has passed); true ends the read.
using HttpProgress = std::function<bool(std::uint64_t bytes)>;

/// Whole objects of more are not read to their end.
inline constexpr std::uint64_t kMostObjectBytes = std::uint64_t{64} << 20U;

}  // namespace cachebisect
