#include "cachebisect/api/doctor.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/statistics.hpp"
#include "cachebisect/bisect/evidence.hpp"
#include "cachebisect/data/memory.hpp"
#include "cachebisect/pipeline/executor.hpp"
#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect {
namespace {

constexpr double kPieceSeconds = 5e-3;
constexpr std::size_t kRounds = 15;
constexpr double kConfidence = 0.99;
constexpr std::size_t kCopyBytes = std::size_t{64} << 20U;

void check(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Error(ErrorKind::interrupted, "interrupted");
}

// Work that no cache and no memory bus has a part in.
std::uint64_t churn(std::uint64_t iterations) {
  std::uint64_t x = 88172645463325252ULL;
  for (std::uint64_t i = 0; i < iterations; ++i) {
    x ^= x << 13U;
    x ^= x >> 7U;
    x ^= x << 17U;
  }
  return x;
}

double timed_churn(std::uint64_t iterations) {
  const double begin = monotonic_seconds();
  const volatile std::uint64_t result = churn(iterations);
  static_cast<void>(result);
  return monotonic_seconds() - begin;
}

std::uint64_t iterations_for_a_piece() {
  std::uint64_t iterations = 1024;
  double seconds = timed_churn(iterations);
  while (seconds < kPieceSeconds / 4) {
    iterations *= 2;
    seconds = timed_churn(iterations);
  }
  return static_cast<std::uint64_t>(static_cast<double>(iterations) * kPieceSeconds / seconds);
}

std::vector<double> equal_pieces(double seconds, const std::stop_token& stop) {
  const std::uint64_t iterations = iterations_for_a_piece();
  std::vector<double> pieces;
  const double end = monotonic_seconds() + seconds;
  while (monotonic_seconds() < end || pieces.size() < 2 * kRounds) {
    check(stop);
    pieces.push_back(timed_churn(iterations));
  }
  return pieces;
}

std::vector<double> log_ratios(const std::vector<double>& pieces) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i + 1 < pieces.size(); i += 2)
    ratios.push_back(std::log(pieces[i] / pieces[i + 1]));
  return ratios;
}

bool certified(std::span<const double> noise, double drop) {
  Evidence evidence(2 / (1 - kConfidence));
  for (const double d : noise) evidence.add(d + drop_to_theta(drop));
  return evidence.rejects_at_most(0);
}

// The smallest drop that rounds of this noise certify as above zero, over most windows of the
// trace.
std::optional<double> detectable(const std::vector<double>& ratios) {
  for (double drop = 0.002; drop < 0.6; drop *= 1.1) {
    std::size_t found = 0;
    std::size_t windows = 0;
    for (std::size_t begin = 0; begin + kRounds <= ratios.size(); begin += kRounds) {
      ++windows;
      found += certified(std::span(ratios).subspan(begin, kRounds), drop) ? 1 : 0;
    }
    if (windows > 0 && 10 * found >= 9 * windows) return drop;
  }
  return std::nullopt;
}

double memory_bandwidth(const std::stop_token& stop) {
  Buffer from;
  Buffer to;
  std::memset(from.reserve(kCopyBytes), 1, kCopyBytes);
  std::memset(to.reserve(kCopyBytes), 0, kCopyBytes);
  double best = 0;
  for (int i = 0; i < 8; ++i) {
    check(stop);
    const double begin = monotonic_seconds();
    std::memcpy(to.data(), from.data(), kCopyBytes);
    best = std::max(best, 2.0 * static_cast<double>(kCopyBytes) / (monotonic_seconds() - begin));
  }
  return best / 1e9;
}

std::optional<double> copy_bandwidth(Device& device, const std::stop_token& stop) {
  if (!device.copies() || !device.has_data()) return device.info().copy_gb_per_s;
  Buffer from(device.slot_memory(true));
  Buffer to(device.device_memory());
  from.reserve(kCopyBytes);
  to.reserve(kCopyBytes);
  const auto stream = device.make_stream();
  const auto before = device.make_event();
  const auto after = device.make_event();
  double best = 0;
  for (int i = 0; i < 8; ++i) {
    check(stop);
    device.record(*before, *stream);
    device.copy_to_device(to.data(), from.data(), kCopyBytes, *stream, false);
    device.record(*after, *stream);
    device.synchronize(*after);
    const double seconds = device.completion_seconds(*after) - device.completion_seconds(*before);
    best = std::max(best, static_cast<double>(kCopyBytes) / seconds);
  }
  return best / 1e9;
}

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
  while (monotonic_seconds() < end) {
    constexpr int kBatches = 50;
    const double begin = monotonic_seconds();
    for (int i = 0; i < kBatches; ++i) executor.release(executor.next(stop), nullptr);
    times.push_back((monotonic_seconds() - begin) / kBatches);
  }
  executor.halt();
  return median(times);
}

ToolFloor tool_floor(Device& device, double seconds, const std::stop_token& stop) {
  constexpr std::int64_t kSmall = 1;
  constexpr std::int64_t kLarge = 1024;
  const double small = null_batch_seconds(device, kSmall, seconds / 2, stop);
  const double large = null_batch_seconds(device, kLarge, seconds / 2, stop);
  const double per_sample = (large - small) / static_cast<double>(kLarge - kSmall);
  return {.ns_per_sample = per_sample * 1e9,
          .us_per_batch = std::max(0.0, small - per_sample) * 1e6};
}

}  // namespace

Diagnosis diagnose(Device& device, double seconds, const std::stop_token& stop) {
  Diagnosis diagnosis;
  diagnosis.machine = probe_machine();
  diagnosis.device = device.info();
  const auto ticks_before = read_cpu_times();
  const std::vector<double> pieces = equal_pieces(0.7 * seconds, stop);
  const std::vector<double> ratios = log_ratios(pieces);
  diagnosis.noise.block_cv = coefficient_of_variation(pieces);
  if (const auto interval = median_interval(ratios, kConfidence)) {
    diagnosis.noise.null_drop = {
        1 - std::exp(-median(ratios)),
        Interval{theta_to_drop(interval->low), theta_to_drop(interval->high)}};
  }
  diagnosis.detectable_drop = detectable(ratios);
  diagnosis.memory_gb_per_s = memory_bandwidth(stop);
  diagnosis.copy_gb_per_s = copy_bandwidth(device, stop);
  diagnosis.floor = tool_floor(device, 0.2 * seconds, stop);
  const auto ticks_after = read_cpu_times();
  if (ticks_before && ticks_after)
    diagnosis.noise.steal_share = steal_share(*ticks_before, *ticks_after);
  return diagnosis;
}

}  // namespace cachebisect
