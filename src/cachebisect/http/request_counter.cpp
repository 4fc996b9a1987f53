#include "cachebisect/http/request_counter.hpp"

#include <algorithm>

namespace cachebisect {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;

std::uint64_t nanoseconds(double seconds) noexcept {
  return static_cast<std::uint64_t>(std::max(0.0, seconds) * kNanosecondsPerSecond);
}

}  // namespace

void RequestCounter::add(const HttpResult& result, bool repeats, double seconds) noexcept {
  ++requests_;
  bytes_ += result.bytes;
  connections_ += static_cast<std::uint64_t>(std::max(0, result.connections));
  request_nanoseconds_ += nanoseconds(seconds);
  if (repeats) ++repeated_;
  if (result.outcome == HttpResult::Outcome::throttled) ++throttled_;
  if (result.outcome == HttpResult::Outcome::failed) ++failed_;
}

void RequestCounter::add_read(double seconds, std::uint64_t most_in_flight) noexcept {
  waiting_nanoseconds_ += nanoseconds(seconds);
  std::uint64_t known = most_in_flight_;
  while (known < most_in_flight && !most_in_flight_.compare_exchange_weak(known, most_in_flight)) {
  }
}

RequestCounts RequestCounter::counts() const noexcept {
  return {.requests = requests_,
          .repeated = repeated_,
          .throttled = throttled_,
          .failed = failed_,
          .connections = connections_,
          .received_bytes = static_cast<double>(bytes_),
          .request_seconds = static_cast<double>(request_nanoseconds_) / kNanosecondsPerSecond,
          .waiting_seconds = static_cast<double>(waiting_nanoseconds_) / kNanosecondsPerSecond,
          .most_in_flight = most_in_flight_};
}

}  // namespace cachebisect
