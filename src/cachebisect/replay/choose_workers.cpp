#include "cachebisect/replay/choose_workers.hpp"

#include <algorithm>
#include <utility>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/denormals.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/executor/load_guard.hpp"
#include "cachebisect/replay/trainer.hpp"

namespace cachebisect {
namespace {

/// The pipeline's own training loop with so many workers.
class PipelineLoop final : public TrialLoop {
 public:
  PipelineLoop(const Pipeline& pipeline, const std::shared_ptr<Device>& device,
               std::shared_ptr<TrainStep> step, int workers, LiveOrder& order, TrainedSteps& steps,
               const std::stop_token& stop)
      : trainer_(pipeline, device, std::move(step), workers, order, steps),
        order_(order),
        steps_(steps),
        stop_(stop) {}

  TrialBlock run(int steps) override {
    const BlockSteps block{
        .warmup = std::max(2, trainer_.loader.workers()), .timed = steps, .observe = false};
    LoadRequest request = order_.request(order_.reserve(
        static_cast<std::uint64_t>(block.warmup + block.timed + trainer_.loader.slots())));
    request.observe = false;
    steps_.use(*trainer_.step);
    StepSource source;
    source.loader = &trainer_.loader;
    const LoadGuard running(trainer_.loader, request);
    const BlockTiming timing = trainer_.loop.run(source, block, stop_);
    return {timing.seconds, timing.starved_seconds, timing.cpu_seconds, timing.samples};
  }

  [[nodiscard]] double bytes_held() const override {
    return static_cast<double>(trainer_.loader.bytes_held());
  }

 private:
  Trainer trainer_;
  LiveOrder& order_;
  TrainedSteps& steps_;
  const std::stop_token& stop_;
};

}  // namespace

WorkerChoice choose_workers(const Pipeline& pipeline, const std::shared_ptr<Device>& device,
                            const std::function<std::shared_ptr<TrainStep>(int workers)>& step_for,
                            const LiveOrder& order, const std::stop_token& stop) {
  const FlushDenormals flush;
  LiveOrder reading = order;
  TrainedSteps steps;
  WorkerChoice choice = search_workers({
      .open =
          [&](int workers) {
            return std::make_unique<PipelineLoop>(pipeline, device, step_for(workers), workers,
                                                  reading, steps, stop);
          },
      .clock = monotonic_seconds,
      .free_bytes = [] { return probe_machine().memory_available_bytes; },
      .cores = probe_machine().usable_cpus,
      .batch_size = static_cast<int>(pipeline.batch_size()),
  });
  steps.restore_weights();
  return choice;
}

}  // namespace cachebisect
