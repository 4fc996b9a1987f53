// What a server of objects gives, as numbers: latency, bandwidth that all requests share, and a
// rate of requests above which it refuses. Pure, and in the time of its caller.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

struct StorageSettings {
  double median_seconds = 0.02;      ///< of the time to the first byte
  double p99_seconds = 0.06;         ///< its 99th percentile, lognormal; the median: constant
  double bytes_per_second = 100e6;   ///< of all answers together; 0: no limit
  double requests_per_second = 500;  ///< beyond `burst`; 0: no limit
  double burst = 100;                ///< requests that are answered at once after a pause
  std::uint64_t seed = 1;            ///< of the latencies
};

/// Throws Error(usage) that names what is not a sensible value.
CACHEBISECT_INTERNAL_API void check(const StorageSettings& settings);

/// A request that is answered. Times are in seconds of the caller's clock.
struct StorageAnswer {
  double first_byte = 0;
  double last_byte = 0;
};

/// Deterministic: the same calls give the same answers. Not thread safe.
class CACHEBISECT_INTERNAL_API StorageModel {
 public:
  /// Throws Error(usage) as check() does.
  explicit StorageModel(const StorageSettings& settings);

  /// A request for so many bytes at `now`, which never decreases: when its answer is due; empty if
  /// the server refuses it (503).
  [[nodiscard]] std::optional<StorageAnswer> admit(double now, std::uint64_t bytes);
  /// Bytes that are ready at `ready`: when the last of them has passed, behind what was promised
  /// before. For answers that are sent in pieces, which then share the bandwidth evenly.
  [[nodiscard]] double transfer(double ready, std::uint64_t bytes);
  /// Seconds from `now` until a request is not refused.
  [[nodiscard]] double seconds_until_admitted(double now) const;

 private:
  void refill(double now);
  [[nodiscard]] double draw_latency();
  void forget_before(double time);
  double take_gaps(double ready, double seconds);

  StorageSettings settings_;
  double mu_ = 0;
  double sigma_ = 0;
  std::uint64_t admitted_ = 0;
  double tokens_;
  double filled_at_ = 0;
  bool started_ = false;
  /// When the link is taken: begin -> end, disjoint.
  std::map<double, double> busy_;
};

}  // namespace cachebisect
