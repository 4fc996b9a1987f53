// Requests to servers, counted.
#pragma once

#include <cstdint>

namespace cachebisect {

/// Sums over all threads, unless said otherwise.
struct RequestCounts {
  std::uint64_t samples = 0;    ///< that were read by them
  std::uint64_t requests = 0;   ///< repeated ones included
  std::uint64_t repeated = 0;   ///< because the one before was throttled or failed
  std::uint64_t throttled = 0;  ///< answers 429 and 503
  std::uint64_t failed = 0;     ///< other refusals, and requests without a whole answer
  std::uint64_t connections = 0;
  double received_bytes = 0;
  double request_seconds = 0;
  double waiting_seconds = 0;        ///< with a request in flight, or several
  std::uint64_t most_in_flight = 0;  ///< in one thread
};

}  // namespace cachebisect
