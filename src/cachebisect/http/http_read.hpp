// A read over HTTP, and what came of it: plain values.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

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

/// Whole objects of more are not read to their end.
inline constexpr std::uint64_t kMostObjectBytes = std::uint64_t{64} << 20U;

}  // namespace cachebisect
