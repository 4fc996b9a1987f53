#include "cachebisect/tune/disk_need.hpp"

#include <algorithm>
#include <optional>

#include "cachebisect/base/number_format.hpp"

namespace cachebisect::tune {
namespace {

/// The most that reads get which are no larger than the samples, or the smallest that were tried.
std::optional<double> disk_rate(const StorageFacts& disk, double bytes_per_sample) {
  std::optional<double> best;
  std::size_t smallest = 0;
  for (const StorageRow& row : disk.rows) {
    if (row.read_bytes > 0 && (smallest == 0 || row.read_bytes < smallest)) {
      smallest = row.read_bytes;
    }
  }
  const double most = std::max(bytes_per_sample, static_cast<double>(smallest));
  for (const StorageRow& row : disk.rows) {
    const bool counts = row.read_bytes > 0 && static_cast<double>(row.read_bytes) <= most;
    if (!counts || !row.disk) continue;
    best = std::max(best.value_or(0), row.disk->bytes_per_second);
  }
  return best;
}

}  // namespace

std::string why_too_slow(const StorageFacts& disk, const DiskNeed& need) {
  const auto rate = disk_rate(disk, need.bytes_per_sample);
  const double needed = need.bytes_per_sample * need.samples_per_second;
  if (!rate || *rate >= needed) return "";
  return "memory does not hold it, and its disk gives " + format_bytes(*rate) +
         "/s, where today's speed takes " + format_bytes(needed) + "/s";
}

}  // namespace cachebisect::tune
