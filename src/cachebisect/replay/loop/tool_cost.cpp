#include "cachebisect/replay/loop/tool_cost.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/executor/executor.hpp"
#include "cachebisect/executor/load_guard.hpp"

namespace cachebisect {
namespace {

struct NullChain {
  std::size_t sample_stages = 4;
  std::int64_t batch_size = 1;
  int workers = 0;
  int prefetch = 2;
  LoaderKind loader = LoaderKind::sample;
};

Pipeline null_pipeline(const NullChain& chain) {
  PipelineBuilder builder;
  builder.source("read", 1U << 20U,
                 [](SampleIndex, Sample& out) { out.field("image").resize_as<std::uint8_t>({1}); });
  for (std::size_t i = 1; i < chain.sample_stages; ++i) {
    builder.stage("nothing_" + std::to_string(i), [](const Sample&, Sample&) {});
  }
  return builder.collate().copy().batch_size(chain.batch_size).workers(chain.workers).build();
}

/// Seconds per batch: the minimum over pieces of a millisecond, to exclude what other processes
/// take. Where they take whole pieces, it goes on until enough have been timed, for ten times
/// `seconds` at most. Batches that fill the ring at first are not timed.
double batch_seconds(Device& device, const NullChain& chain, double seconds,
                     const std::stop_token& stop) {
  constexpr double piece = 1e-3;
  constexpr std::size_t enough = 5;
  constexpr double longest = 10;
  const Pipeline pipeline = null_pipeline(chain);
  Executor loader(pipeline, device,
                  {.workers = chain.workers, .prefetch = chain.prefetch, .loader = chain.loader});
  LoadRequest request;
  request.observe = false;
  const LoadGuard running(loader, request);
  const auto take = [&] { loader.release(loader.next(stop), nullptr); };
  for (int i = 0; i < 2 * loader.slots(); ++i) take();
  std::vector<double> times;
  const double began = monotonic_seconds();
  const auto goes_on = [&] {
    const double passed = monotonic_seconds() - began;
    return passed < seconds || (times.size() < enough && passed < longest * seconds);
  };
  do {
    const double begin = monotonic_seconds();
    int batches = 0;
    double taken = 0;
    while (taken < piece) {
      take();
      ++batches;
      taken = monotonic_seconds() - begin;
    }
    times.push_back(taken / batches);
  } while (goes_on());
  return *std::min_element(times.begin(), times.end());
}

}  // namespace

ToolCost measure_inline_cost(Device& device, std::size_t sample_stages, double seconds,
                             const std::stop_token& stop) {
  constexpr std::int64_t small_batch = 1;
  constexpr std::int64_t large_batch = 1024;
  NullChain chain{.sample_stages = sample_stages, .batch_size = small_batch};
  const double small = batch_seconds(device, chain, seconds / 2, stop);
  chain.batch_size = large_batch;
  const double large = batch_seconds(device, chain, seconds / 2, stop);
  const double per_sample =
      std::max(0.0, (large - small) / static_cast<double>(large_batch - small_batch));
  return {per_sample, std::max(0.0, small - per_sample)};
}

ToolCost measure_tool_cost(Device& device, const Pipeline& like, int workers, double seconds,
                           const std::stop_token& stop) {
  const NullChain chain{.sample_stages = like.collate_position(),
                        .batch_size = like.batch_size(),
                        .workers = workers,
                        .prefetch = like.spec().prefetch,
                        .loader = like.spec().loader};
  ToolCost cost = measure_inline_cost(device, chain.sample_stages, seconds / 2, stop);
  const double batch = batch_seconds(device, chain, seconds / 2, stop);
  const double of_samples = cost.seconds_per_sample * static_cast<double>(chain.batch_size);
  cost.seconds_per_batch = std::max(0.0, batch - of_samples / std::max(workers, 1));
  return cost;
}

}  // namespace cachebisect
