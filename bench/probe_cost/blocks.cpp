#include "bench/probe_cost/blocks.hpp"

#include <algorithm>
#include <utility>

#include "cachebisect/base/clock.hpp"

namespace cachebisect::probe_cost {
namespace {

constexpr double kBlockSeconds = 0.040;
constexpr int kMinSteps = 3;
constexpr int kMinWarmup = 4;

/// A block: seconds of its timed part, CPU seconds with the warm-up.
struct RunBlock {
  double seconds = 0;
  double cpu_seconds = 0;
  double samples = 0;  ///< of the timed steps
  double observing_seconds = 0;
};
using Run = std::function<RunBlock(bool observed, int warmup, int steps)>;

/// How many steps take as long as one of the bisector's blocks.
int steps_of_block(const Run& run, int warmup) {
  int steps = kMinSteps;
  while (run(false, warmup, steps).seconds < kBlockSeconds) steps *= 2;
  return steps;
}

BlockFunction blocks_of(Run run, int slots) {
  const int warmup = std::max(kMinWarmup, slots);
  const int steps = steps_of_block(run, warmup);
  return [run = std::move(run), warmup, steps](bool observed) -> BlockCost {
    const RunBlock block = run(observed, warmup, steps);
    const double delivered = block.samples * (steps + warmup) / steps;
    return {block.seconds / block.samples, block.cpu_seconds / delivered,
            block.observing_seconds / delivered};
  };
}

RunBlock load(Executor& loader, std::uint64_t& position, const LoadRequest& request, int warmup,
              int steps) {
  RunBlock block;
  const auto take = [&] {
    const ReadyBatch ready = loader.next({});
    const auto size = static_cast<double>(ready.batch->size);
    loader.release(ready, nullptr);
    return size;
  };
  loader.start(request);
  for (int i = 0; i < warmup; ++i) position += static_cast<std::uint64_t>(take());
  const double began = monotonic_seconds();
  for (int i = 0; i < steps; ++i) block.samples += take();
  block.seconds = monotonic_seconds() - began;
  loader.halt();
  position += static_cast<std::uint64_t>(block.samples);
  return block;
}

}  // namespace

BlockFunction replay_blocks(Replayer& replayer) {
  const auto run = [&replayer](bool observed, int warmup, int steps) -> RunBlock {
    // Read between blocks, when the workers sleep: while they run, it lags by up to a tick.
    const double cpu = process_cpu_seconds();
    const BlockResult block =
        replayer.run({.arm = {.observed = observed}, .steps = steps, .warmup_steps = warmup}, {});
    return {block.seconds, process_cpu_seconds() - cpu, static_cast<double>(block.samples)};
  };
  return blocks_of(run, replayer.describe().ring_slots);
}

BlockFunction loader_blocks(std::shared_ptr<Executor> loader) {
  const int slots = loader->slots();
  auto run = [loader = std::move(loader), position = std::uint64_t{0}](
                 bool observed, int warmup, int steps) mutable -> RunBlock {
    LoadRequest request;
    request.first_position = position;
    request.observe = observed;
    const double cpu = process_cpu_seconds();
    RunBlock block = load(*loader, position, request, warmup, steps);
    block.cpu_seconds = process_cpu_seconds() - cpu;
    block.observing_seconds = loader->counters().observing_seconds;
    return block;
  };
  return blocks_of(std::move(run), slots);
}

}  // namespace cachebisect::probe_cost
