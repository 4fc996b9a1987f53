// `emulate.storage` of a pipeline file: the storage that reads of the source wait for.
#pragma once

#include <optional>

namespace cachebisect {

/// As the options of `cachebisect storage-emulator`. Rates of 0 mean no limit.
struct StorageSpec {
  double latency_ms = 20;                ///< median time to the first byte
  std::optional<double> latency_p99_ms;  ///< its 99th percentile; empty: three times the median
  double bandwidth_mb_per_s = 100;       ///< 10^6 bytes per second, of all reads together
  double requests_per_second = 500;      ///< beyond `burst`
  double burst = 100;                    ///< requests that are answered at once after a pause

  bool operator==(const StorageSpec&) const = default;
};

}  // namespace cachebisect
