#include "cachebisect/timing/timing_cost.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/observe/loop_events.hpp"
#include "cachebisect/observe/slowdown.hpp"
#include "cachebisect/replay/loop/train_loop.hpp"
#include "cachebisect/timing/step_timer.hpp"
#include "cachebisect/timing/timing_summary.hpp"

namespace cachebisect {
namespace {

constexpr double kBlockSeconds = 0.1;
constexpr double kMinSteps = 8;
constexpr double kMaxSteps = 4096;
constexpr double kMaxSeconds = 8;
constexpr double kMinSeconds = 1;
constexpr int kMinPairs = 3;
constexpr int kMaxPairs = 16;

struct Plan {
  int steps = 0;  ///< of a block
  int pairs = 0;
};

Plan plan_for(const TimedRun& run, int untimed) {
  const TimingSummary summary = summarise(run, {});
  const double each = summary.total.mean;
  if (!(each > 0)) return {};
  const double steps = std::clamp(kBlockSeconds / each, kMinSteps, kMaxSteps);
  const double seconds = std::clamp(summary.seconds / 2, kMinSeconds, kMaxSeconds);
  const double pairs = seconds / (2 * (steps + untimed) * each);
  return {static_cast<int>(steps), std::min(kMaxPairs, static_cast<int>(pairs))};
}

double seconds_per_sample(PipelineReplayer& replayer, const BlockRequest& request,
                          LoopObserver* observer, const std::stop_token& stop) {
  replayer.observe(observer);
  const BlockResult block = replayer.run(request, stop);
  replayer.observe(nullptr);
  return block.seconds / static_cast<double>(std::max<std::uint64_t>(1, block.samples));
}

/// All calls of one batch.
void call_all(const Job& job, LoopObserver& events, std::uint64_t batch) {
  Stream& stream = job.device->compute_stream();
  events.wait_begun(batch);
  events.wait_ended(batch, false);
  if (job.device->copies()) {
    events.copy_begun(batch, stream);
    events.copy_ended(batch, stream);
  }
  events.step_begun(batch, job.pipeline.batch_size());
  for (const StepPart part : job.step->parts()) events.part_ended(part);
  events.step_ended(batch);
}

/// The fastest of some repetitions: interruptions only lengthen them.
double seconds_of_calls(const Job& job) {
  constexpr int kRepetitions = 20;
  constexpr int kBatches = 100;
  double least = INFINITY;
  for (int i = 0; i < kRepetitions; ++i) {
    StepTimer timer(kBatches, job.pipeline.copy_options().prefetch);
    LoopEvents events({&timer});
    events.block_begun({.warmup = 1, .timed = kBatches}, *job.device, job.device->compute_stream());
    const double began = monotonic_seconds();
    for (std::uint64_t batch = 0; batch < kBatches; ++batch) call_all(job, events, batch);
    least = std::min(least, (monotonic_seconds() - began) / kBatches);
    events.block_ended();
  }
  return least;
}

}  // namespace

int untimed_batches(const Job& job) {
  constexpr int kLeast = 3;
  return std::max(kLeast, job.workers + job.pipeline.spec().prefetch + 1);
}

TimingCost measure_timing_cost(const Job& job, PipelineReplayer& replayer, const TimedRun& run,
                               const std::stop_token& stop) {
  const int untimed = untimed_batches(job);
  const Plan plan = plan_for(run, untimed);
  TimingCost cost{.call_seconds = seconds_of_calls(job)};
  if (plan.pairs < kMinPairs) return cost;
  BlockRequest request;
  request.arm.observed = false;
  request.steps = plan.steps;
  request.warmup_steps = untimed;
  StepTimer timer(static_cast<std::size_t>(plan.steps) * static_cast<std::size_t>(plan.pairs),
                  job.pipeline.copy_options().prefetch);
  LoopEvents events({&timer});
  std::vector<double> log_ratios;
  try {
    for (int pair = 0; pair < plan.pairs; ++pair) {
      double timed = 0;
      if (pair % 2 == 0) timed = seconds_per_sample(replayer, request, &events, stop);
      const double plain = seconds_per_sample(replayer, request, nullptr, stop);
      if (pair % 2 != 0) timed = seconds_per_sample(replayer, request, &events, stop);
      log_ratios.push_back(std::log(timed / plain));
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::interrupted) throw;
    return cost;
  }
  cost.pairs = static_cast<int>(log_ratios.size());
  cost.share = slowdown_of(log_ratios);
  return cost;
}

}  // namespace cachebisect
