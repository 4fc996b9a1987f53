#include <algorithm>
#include <cmath>
#include <vector>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/executor/executor.hpp"
#include "cachebisect/replay/loop/load_guard.hpp"
#include "cachebisect/replay/pipeline_replayer.hpp"

namespace cachebisect {
namespace {

constexpr double kTrialSeconds = 0.1;
constexpr double kGoodEnough = 0.97;

/// 1, 2, 4, ... and `most` itself.
std::vector<int> candidates(int most) {
  std::vector<int> counts;
  for (int count = 1; count < most; count *= 2) counts.push_back(count);
  counts.push_back(most);
  return counts;
}

/// Samples a second that the loader alone delivers; its first batch is not timed.
double loading_rate(const Pipeline& pipeline, Device& device, int workers) {
  const CopyOptions copy = pipeline.copy_options();
  Executor loader(pipeline, device, {workers, pipeline.spec().prefetch, copy.pinned, {}});
  LoadPlan plan;
  plan.observe = false;
  const LoadGuard running(loader, plan);
  const std::stop_token never;
  const auto take = [&] {
    const ReadyBatch ready = loader.next(never);
    const auto samples = static_cast<double>(ready.batch->size);
    loader.release(ready, nullptr);
    return samples;
  };
  // What the ring holds when the first batch is there was loaded before the clock began.
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

int resolve_workers(const Pipeline& pipeline, Device& device) {
  const int most = std::max(1, static_cast<int>(std::ceil(probe_machine().usable_cpus)));
  const std::vector<int> counts = candidates(most);
  if (counts.size() == 1) return counts.front();
  std::vector<double> rates;
  rates.reserve(counts.size());
  for (const int count : counts) rates.push_back(loading_rate(pipeline, device, count));
  const double best = *std::max_element(rates.begin(), rates.end());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (rates[i] >= kGoodEnough * best) return counts[i];
  }
  return most;
}

}  // namespace cachebisect
