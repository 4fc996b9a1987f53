#include "cachebisect/bisect/report/storage_use.hpp"

#include <algorithm>

#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

/// Share of the time that reading takes: less is not what limits it.
constexpr double kMuchOfTheTime = 0.3;
/// Requests in flight, mean over the time with any.
constexpr double kOneInFlight = 1.5;
/// Bytes read over those returned: headers and whole pages are no waste that matters.
constexpr double kWasted = 4;

double number(std::uint64_t count) { return static_cast<double>(count); }

}  // namespace

double seconds_per_request(const StorageCounts& counts) {
  return counts.requests == 0 ? 0 : counts.request_seconds / number(counts.requests);
}

bool waits_for_single_requests(const StorageCounts& counts) {
  return counts.requests > 0 && counts.waiting_seconds >= kMuchOfTheTime * counts.seconds &&
         counts.request_seconds < kOneInFlight * counts.waiting_seconds;
}

bool connects_each_time(const StorageCounts& counts) {
  return counts.requests > 0 && number(counts.connections) >= kMostOf * number(counts.requests);
}

bool makes_clients(const StorageCounts& counts) {
  return number(counts.clients) >= kMostOf * number(counts.samples);
}

bool opens_again(const StorageCounts& counts) {
  const std::uint64_t asked = counts.requests + counts.file_opens.value_or(0);
  return number(asked) >= kMostOf * number(counts.samples) &&
         number(counts.reopened) >= kMostOf * number(asked);
}

std::optional<UnusedBytes> unused_bytes(const StorageCounts& counts,
                                        const std::vector<StageReport>& stages) {
  const auto read = std::ranges::find(stages, Category::read, &StageReport::category);
  if (read == stages.end()) return std::nullopt;
  const UnusedBytes bytes{bytes_per_sample(counts), read->output_bytes.value_or(0)};
  if (!(bytes.returned > 0) || bytes.read < kWasted * bytes.returned) return std::nullopt;
  return bytes;
}

}  // namespace cachebisect
