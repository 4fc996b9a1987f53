// What counts of storage show, for sentences and remedies.
#pragma once

#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/protocol/storage_counts.hpp"

namespace cachebisect {

[[nodiscard]] inline double per_sample(const StorageCounts& counts, double count) {
  return count / static_cast<double>(counts.samples);
}

/// Read from files and received from servers, per sample.
[[nodiscard]] inline double bytes_per_sample(const StorageCounts& counts) {
  return per_sample(counts, counts.file_bytes + counts.received_bytes);
}

/// Seconds of one request; 0 without requests.
[[nodiscard]] CACHEBISECT_INTERNAL_API double seconds_per_request(const StorageCounts& counts);
/// Workers spend much of their time in requests, one after the other.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool waits_for_single_requests(const StorageCounts& counts);
/// Most requests need a connection of their own.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool connects_each_time(const StorageCounts& counts);
/// Most samples need a client of their own.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool makes_clients(const StorageCounts& counts);
/// Most files and URLs were asked for by the same worker before.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool opens_again(const StorageCounts& counts);

/// Much more is read for a sample than reading returns. Bytes per sample.
struct UnusedBytes {
  double read = 0;
  double returned = 0;
};
/// Empty if that is not so, or not known.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<UnusedBytes> unused_bytes(
    const StorageCounts& counts, const std::vector<StageReport>& stages);

}  // namespace cachebisect
