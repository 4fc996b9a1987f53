#include "cachebisect/executor/resolve_workers.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/executor/executor.hpp"
#include "cachebisect/executor/load_guard.hpp"

namespace cachebisect {
namespace {

constexpr double kTrialSeconds = 0.1;
constexpr double kGoodEnough = 0.97;

/// 1, 2, 4, ... and `max` itself.
std::vector<int> candidates(int max) {
  std::vector<int> counts;
  for (int count = 1; count < max; count *= 2) counts.push_back(count);
  counts.push_back(max);
  return counts;
}

/// Samples per second that the loader alone delivers.
double loading_rate(const Pipeline& pipeline, Device& device, int workers, LiveOrder& order) {
  const CopyOptions copy = pipeline.copy_options();
  Executor loader(pipeline, device, {workers, pipeline.spec().prefetch, copy.pinned, {}});
  LoadRequest request = order.request(order.reserve(0));
  request.observe = false;
  const LoadGuard running(loader, request);
  // Workers read ahead into every slot, and a shorter last batch of an epoch moves the others back.
  order.reserve(static_cast<std::uint64_t>(loader.slots()) + 1);
  const std::stop_token never;
  const auto take = [&] {
    order.reserve(1);
    const ReadyBatch ready = loader.next(never);
    const auto samples = static_cast<double>(ready.batch->size);
    loader.release(ready, nullptr);
    return samples;
  };
  // Batches already in the ring when the clock starts are not counted.
  const int untimed = loader.slots();
  const double limit = monotonic_seconds() + kTrialSeconds;
  for (int i = 0; i < untimed && (i == 0 || monotonic_seconds() < limit); ++i) take();
  const double begin = monotonic_seconds();
  double samples = 0;
  double elapsed = 0;
  for (int batches = 0; elapsed < kTrialSeconds || batches < workers; ++batches) {
    samples += take();
    elapsed = monotonic_seconds() - begin;
  }
  return samples / elapsed;
}

}  // namespace

int resolve_workers(const Pipeline& pipeline, Device& device, LiveOrder& order) {
  const int max = std::max(1, static_cast<int>(std::ceil(probe_machine().usable_cpus)));
  const std::vector<int> counts = candidates(max);
  if (counts.size() == 1) return counts.front();
  std::vector<double> rates;
  rates.reserve(counts.size());
  for (const int count : counts) rates.push_back(loading_rate(pipeline, device, count, order));
  const double best = *std::max_element(rates.begin(), rates.end());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (rates[i] >= kGoodEnough * best) return counts[i];
  }
  return max;
}

}  // namespace cachebisect
