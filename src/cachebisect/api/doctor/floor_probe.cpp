#include "cachebisect/api/doctor/floor_probe.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/statistics.hpp"
#include "cachebisect/pipeline/executor.hpp"
#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect {
namespace {

Pipeline null_pipeline(std::int64_t batch_size) {
  const auto nothing = [](const Sample&, Sample&) {};
  return PipelineBuilder{}
      .source("read", 1U << 20U,
              [](SampleIndex, Sample& out) { out.field("image").resize_as<std::uint8_t>({1}); })
      .stage("first", nothing)
      .stage("second", nothing)
      .stage("third", nothing)
      .collate()
      .copy()
      .batch_size(batch_size)
      .workers(0)
      .build();
}

// Seconds a batch of the null pipeline, the median of short runs.
double null_batch_seconds(Device& device, std::int64_t batch_size, double seconds,
                          const std::stop_token& stop) {
  const Pipeline pipeline = null_pipeline(batch_size);
  Executor executor(pipeline, device, ExecutorOptions{});
  LoadPlan plan;
  plan.observe = false;
  executor.start(plan);
  std::vector<double> times;
  const double end = monotonic_seconds() + seconds;
  do {
    constexpr int kBatches = 50;
    const double begin = monotonic_seconds();
    for (int i = 0; i < kBatches; ++i) executor.release(executor.next(stop), nullptr);
    times.push_back((monotonic_seconds() - begin) / kBatches);
  } while (monotonic_seconds() < end);
  executor.halt();
  return median(times);
}

}  // namespace

ToolFloor measure_floor(Device& device, double seconds, const std::stop_token& stop) {
  constexpr std::int64_t kSmall = 1;
  constexpr std::int64_t kLarge = 1024;
  const double small = null_batch_seconds(device, kSmall, seconds / 2, stop);
  const double large = null_batch_seconds(device, kLarge, seconds / 2, stop);
  const double per_sample = (large - small) / static_cast<double>(kLarge - kSmall);
  return {.ns_per_sample = per_sample * 1e9,
          .us_per_batch = std::max(0.0, small - per_sample) * 1e6};
}

}  // namespace cachebisect
