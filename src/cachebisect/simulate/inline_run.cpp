#include "cachebisect/simulate/inline_run.hpp"

#include <algorithm>
#include <utility>

#include "cachebisect/simulate/simulated_device.hpp"

namespace cachebisect {
namespace {

/// The training thread's clock. A single thread waits for no core, lock or memory.
class InlineRun {
 public:
  InlineRun(const StageCosts& costs, const RingRequest& request)
      : costs_(costs), chain_(costs.chain()), request_(request), device_(chain_, request) {
    result_.stages.resize(static_cast<std::size_t>(chain_.boundaries()));
  }

  RingRun run() {
    const bool cached = request_.boundary >= chain_.collate_boundary() || request_.shadow;
    for (int batch = 0; batch < request_.steps; ++batch) train(cached ? now_ : load(batch));
    device_.append_results(result_);
    return std::move(result_);
  }

 private:
  /// When the training thread has loaded a batch.
  double load(std::int64_t batch) {
    double time = now_;
    for (std::int64_t row = 0; row < chain_.batch_size; ++row) {
      if (request_.boundary > 0) time = compute(time, chain_.serve_seconds);
      for (auto stage = static_cast<std::size_t>(request_.boundary); stage < chain_.stages.size();
           ++stage) {
        time = process(stage, batch * chain_.batch_size + row, time);
      }
    }
    return collate(time);
  }

  /// Moves the training thread on by a step whose batch is ready at `ready`.
  void train(double ready) {
    starved_ += ready - now_;
    now_ = device_.may_submit(ready);
    const double copied = request_.shadow ? now_ : device_.copy(now_);
    if (!chain_.copy_non_blocking) now_ = copied;
    if (chain_.trainer_seconds > 0) now_ = compute(now_, chain_.trainer_seconds);
    busy_ += chain_.trainer_seconds;
    device_.step(copied, now_);
    result_.starved_by.push_back(starved_);
    result_.trainer_by.push_back(busy_);
    result_.cpu_by.push_back(cpu_);
  }

  double compute(double time, double seconds) {
    cpu_ += seconds;
    return time + seconds;
  }

  /// When a stage that began at `time` has processed sample `position`.
  double process(std::size_t stage, std::int64_t position, double time) {
    const double seconds = costs_.stage_seconds(stage, request_, position);
    StageCounters& counters = result_.stages[stage];
    switch (chain_.stages[stage].kind) {
      case CostKind::cpu:
      case CostKind::payload:
      case CostKind::memory:
        cpu_ += seconds;
        counters.cpu_seconds += seconds;
        break;
      case CostKind::wait:
        break;
      case CostKind::lock:
        counters.serial_seconds += seconds;
        break;
    }
    counters.busy_seconds += seconds;
    ++counters.samples;
    return time + seconds;
  }

  double collate(double time) {
    const double seconds = costs_.collate_seconds(request_);
    StageCounters& counters = result_.stages[chain_.stages.size()];
    counters.busy_seconds += seconds;
    counters.cpu_seconds += seconds;
    counters.samples += static_cast<std::uint64_t>(chain_.batch_size);
    return compute(time, seconds);
  }

  const StageCosts& costs_;
  const SimulatedChain& chain_;
  const RingRequest& request_;
  SimulatedDevice device_;
  double now_ = 0;
  double starved_ = 0;
  double busy_ = 0;
  double cpu_ = 0;
  RingRun result_;
};

}  // namespace

RingRun run_inline(const StageCosts& costs, const RingRequest& request) {
  return InlineRun(costs, request).run();
}

}  // namespace cachebisect
