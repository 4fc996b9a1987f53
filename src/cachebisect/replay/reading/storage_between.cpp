#include "cachebisect/replay/reading/storage_between.hpp"

namespace cachebisect {

std::optional<StorageCounts> storage_between(const RequestCounts& before,
                                             const RequestCounts& after, const MakingTime& time) {
  StorageCounts counts;
  counts.samples = after.samples - before.samples;
  counts.workers = time.workers;
  counts.seconds = time.seconds * time.workers;
  counts.requests = after.requests - before.requests;
  counts.request_seconds = after.request_seconds - before.request_seconds;
  counts.waiting_seconds = after.waiting_seconds - before.waiting_seconds;
  counts.most_in_flight = after.most_in_flight;
  counts.received_bytes = after.received_bytes - before.received_bytes;
  counts.connections = after.connections - before.connections;
  counts.throttled = after.throttled - before.throttled;
  counts.failed = after.failed - before.failed;
  // Without a request, a cache has what was read.
  return counts.samples > 0 && counts.requests > 0 ? std::optional(counts) : std::nullopt;
}

}  // namespace cachebisect
