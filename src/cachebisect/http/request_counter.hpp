// Counts requests that many threads make.
#pragma once

#include <atomic>
#include <cstdint>

#include "cachebisect/base/export.hpp"
#include "cachebisect/http/http_read.hpp"
#include "cachebisect/protocol/request_counts.hpp"

namespace cachebisect {

/// Thread safe, without locks.
class CACHEBISECT_INTERNAL_API RequestCounter {
 public:
  /// A request that took so long.
  void add(const HttpResult& result, bool repeats, double seconds) noexcept;
  /// A read of one thread: how long it waited for its requests, and how many it had at once.
  void add_read(double seconds, std::uint64_t most_in_flight) noexcept;

  [[nodiscard]] RequestCounts counts() const noexcept;

 private:
  std::atomic<std::uint64_t> requests_{0};
  std::atomic<std::uint64_t> repeated_{0};
  std::atomic<std::uint64_t> throttled_{0};
  std::atomic<std::uint64_t> failed_{0};
  std::atomic<std::uint64_t> connections_{0};
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::uint64_t> request_nanoseconds_{0};
  std::atomic<std::uint64_t> waiting_nanoseconds_{0};
  std::atomic<std::uint64_t> most_in_flight_{0};
};

}  // namespace cachebisect
