// The overhead of the executor: nanoseconds per sample with null stages, and the hand-off of a
// batch.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/executor/executor.hpp"

namespace {

using namespace cachebisect;  // NOLINT(google-build-using-namespace)

class NullSource final : public SourceStage {
 public:
  [[nodiscard]] std::uint64_t size() const override { return 1U << 20U; }
  [[nodiscard]] SampleSpec infer() override { return {{"image", DType::uint8, {1}}}; }
  void read(Sample& out, const SampleContext& /*context*/) const override {
    out.field("image").resize_as<std::uint8_t>({1})[0] = 1;
  }
};

class NullStage final : public SampleStage {
 public:
  [[nodiscard]] SampleSpec infer(const SampleSpec& input) override { return input; }
  void process(const Sample& /*input*/, Sample& /*out*/,
               const SampleContext& /*context*/) const override {}
};

Pipeline null_chain(int stages, std::int64_t batch_size) {
  PipelineBuilder builder;
  builder.source("read", BuiltStage{"read.null", {}, std::make_shared<NullSource>()});
  for (int i = 0; i < stages; ++i) {
    builder.stage(BuiltStage{"augment.null", {}, std::make_shared<NullStage>()});
  }
  return builder.collate().copy().batch_size(batch_size).build();
}

// Arguments: workers, null sample stages after the source, observed or not.
void samples(benchmark::State& state) {
  constexpr std::int64_t kBatch = 512;
  const Pipeline pipeline = null_chain(static_cast<int>(state.range(1)), kBatch);
  const auto device = make_cpu_device();
  Executor executor(pipeline, *device,
                    {.workers = static_cast<int>(state.range(0)), .prefetch = 2, .grain = 32});
  LoadRequest request;
  request.observe = state.range(2) != 0;
  executor.start(request);
  for (int i = 0; i < 20; ++i) executor.release(executor.next({}), nullptr);
  const double cpu = process_cpu_seconds();
  const double began = monotonic_seconds();
  for (auto _ : state) executor.release(executor.next({}), nullptr);
  const auto loaded = static_cast<double>(state.iterations() * kBatch);
  state.counters["ns_per_sample"] = 1e9 * (monotonic_seconds() - began) / loaded;
  state.counters["cpu_ns_per_sample"] = 1e9 * (process_cpu_seconds() - cpu) / loaded;
}
BENCHMARK(samples)
    ->ArgNames({"workers", "stages", "observe"})
    ->ArgsProduct({{0, 1, 2}, {0, 1, 3, 6}, {0, 1}})
    ->UseRealTime();

double percentile(std::vector<double>& seconds, double share) {
  const auto at = static_cast<std::size_t>(share * static_cast<double>(seconds.size() - 1));
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(at),
                   seconds.end());
  return seconds[at];
}

// A source that stores the time at which the last sample of a batch was read.
class StampSource final : public SourceStage {
 public:
  explicit StampSource(double pause) : pause_(pause) {}
  [[nodiscard]] std::uint64_t size() const override { return 1U << 20U; }
  [[nodiscard]] SampleSpec infer() override {
    return {{"image", DType::uint8, {1}}, {"stamp", DType::float64, {}}};
  }
  void read(Sample& out, const SampleContext& context) const override {
    // Works instead of sleeping, like a worker that is the bottleneck.
    const double until = context.index() % 64 == 63 ? monotonic_seconds() + pause_ : 0;
    while (monotonic_seconds() < until) {
    }
    out.field("image").resize_as<std::uint8_t>({1})[0] = 1;
    out.field("stamp").set(context.index() % 64 == 63 ? monotonic_seconds() : 0.0);
  }

 private:
  double pause_;
};

// From the last read of a batch of 64 one-byte items until the consumer has the batch. Argument: 1:
// the consumer sleeps in next() for 300 us each time; 0: it polls.
void hand_off(benchmark::State& state) {
  const bool asleep = state.range(0) != 0;
  const Pipeline pipeline =
      PipelineBuilder{}
          .source("read", BuiltStage{"read.stamp", {}, std::make_shared<StampSource>(300e-6)})
          .collate()
          .copy()
          .batch_size(64)
          .shuffle(false)
          .build();
  const auto device = make_cpu_device();
  Executor executor(pipeline, *device, {.workers = 1, .prefetch = 0, .grain = 64});
  executor.start({});
  std::vector<double> seconds;
  for (auto _ : state) {
    ReadyBatch ready = asleep ? executor.next({}) : executor.try_next();
    while (ready.batch == nullptr) ready = executor.try_next();
    const double now = monotonic_seconds();
    const auto* stamps = reinterpret_cast<const double*>(ready.batch->tensor("stamp").data);
    seconds.push_back(now - stamps[63]);
    executor.release(ready, nullptr);
  }
  state.counters["p50_us"] = 1e6 * percentile(seconds, 0.5);
  state.counters["p90_us"] = 1e6 * percentile(seconds, 0.9);
}
BENCHMARK(hand_off)->ArgName("asleep")->Arg(0)->Arg(1)->Iterations(2000)->UseRealTime();

// What the system itself takes to wake a thread that sleeps on a word of memory for 300 us, without
// an executor.
void wake_up(benchmark::State& state) {
  std::atomic<std::uint32_t> bell{0};
  std::atomic<bool> ended{false};
  double rung = 0;
  std::atomic<bool> waits{false};
  std::thread ringer([&] {
    while (!ended) {
      if (!waits.exchange(false)) continue;
      const double until = monotonic_seconds() + 300e-6;
      while (monotonic_seconds() < until) {
      }
      rung = monotonic_seconds();
      bell.fetch_add(1);
      bell.notify_all();
    }
  });
  std::vector<double> seconds;
  for (auto _ : state) {
    const std::uint32_t seen = bell;
    waits = true;
    bell.wait(seen);
    seconds.push_back(monotonic_seconds() - rung);
  }
  ended = true;
  ringer.join();
  state.counters["p50_us"] = 1e6 * percentile(seconds, 0.5);
  state.counters["p90_us"] = 1e6 * percentile(seconds, 0.9);
}
BENCHMARK(wake_up)->Iterations(2000)->UseRealTime();

// Round trip while both sides are awake: batches are loaded as fast as they are taken.
void batches(benchmark::State& state) {
  const Pipeline pipeline = null_chain(0, 64);
  const auto device = make_cpu_device();
  Executor executor(pipeline, *device,
                    {.workers = static_cast<int>(state.range(0)), .prefetch = 2});
  executor.start({});
  for (auto _ : state) executor.release(executor.next({}), nullptr);
}
BENCHMARK(batches)->ArgName("workers")->Arg(0)->Arg(1)->Arg(2)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
