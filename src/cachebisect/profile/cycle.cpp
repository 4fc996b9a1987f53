#include "cachebisect/profile/cycle.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "cachebisect/base/clock.hpp"

namespace cachebisect::profile {
namespace {

std::int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

/// By the closest of a few pairs of readings.
std::int64_t clock_offset() {
  std::int64_t offset = 0;
  double closest = 1;
  for (int i = 0; i < 5; ++i) {
    const double before = monotonic_seconds();
    const std::chrono::nanoseconds system = std::chrono::system_clock::now().time_since_epoch();
    const double after = monotonic_seconds();
    if (after - before >= closest) continue;
    closest = after - before;
    offset = system.count() - nanoseconds((before + after) / 2);
  }
  return offset;
}

/// When each batch left the ring: the wait for it ended, or it was copied ahead.
std::map<std::uint64_t, double> taken_at(const Cycle& cycle) {
  std::map<std::uint64_t, double> taken;
  for (const LoopSpan& span : cycle.loop) {
    if (span.work == LoopWork::load) taken.emplace(span.batch, span.end);
    if (span.work == LoopWork::copy) taken.emplace(span.batch, span.begin);
  }
  return taken;
}

std::map<std::uint64_t, double> published_at(const Cycle& cycle) {
  std::map<std::uint64_t, double> published;
  for (const auto& worker : cycle.workers) {
    for (const LoadSpan& span : worker) {
      if (span.work == LoadWork::publish) published.emplace(span.item, span.begin);
    }
  }
  return published;
}

}  // namespace

std::int64_t system_time(const Cycle& cycle, double monotonic_seconds) noexcept {
  return cycle.clock_offset + nanoseconds(monotonic_seconds);
}

double monotonic_time(const Cycle& cycle, std::int64_t system_nanoseconds) noexcept {
  return static_cast<double>(system_nanoseconds - cycle.clock_offset) / 1e9;
}

Cycle cycle_of(const LoopRecorder& loop, const LoadRecorder* workers) {
  Cycle cycle;
  cycle.begin = loop.begin_seconds();
  cycle.end = loop.end_seconds();
  cycle.clock_offset = clock_offset();
  cycle.first_batch = loop.first_batch();
  cycle.loop.assign(loop.spans().begin(), loop.spans().end());
  cycle.device = loop.device_spans();
  for (std::size_t i = 0; workers != nullptr && i < workers->size(); ++i) {
    const auto spans = workers->worker(i).spans().records();
    cycle.workers.emplace_back(spans.begin(), spans.end());
    cycle.worker_threads.push_back(workers->worker(i).thread());
  }
  return cycle;
}

std::vector<ReadyCount> ready_batches(const Cycle& cycle) {
  const auto published = published_at(cycle);
  const auto taken = taken_at(cycle);
  if (published.empty() || taken.empty()) return {};
  std::vector<ReadyCount> changes;
  changes.reserve(published.size() + taken.size());
  for (const auto& [batch, seconds] : published) changes.push_back({seconds, 1});
  for (const auto& [batch, seconds] : taken) changes.push_back({seconds, -1});
  std::sort(changes.begin(), changes.end(),
            [](const ReadyCount& a, const ReadyCount& b) { return a.seconds < b.seconds; });
  // Batches are numbered alike by both: those before the first published one were ready already.
  auto ready = static_cast<std::int64_t>(published.begin()->first) -
               static_cast<std::int64_t>(taken.begin()->first);
  std::vector<ReadyCount> counts{{cycle.begin, std::max<std::int64_t>(ready, 0)}};
  for (const ReadyCount& change : changes) {
    ready += change.batches;
    if (change.seconds <= cycle.end) {
      counts.push_back({change.seconds, std::max<std::int64_t>(ready, 0)});
    }
  }
  return counts;
}

}  // namespace cachebisect::profile
