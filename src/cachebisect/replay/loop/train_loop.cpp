#include "cachebisect/replay/loop/train_loop.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/device/profiler_range.hpp"
#include "cachebisect/replay/loop/device_buffers.hpp"
#include "cachebisect/replay/loop/device_chain.hpp"
#include "cachebisect/replay/loop/group_marks.hpp"
#include "cachebisect/replay/loop/loader_feeds.hpp"
#include "cachebisect/replay/loop/loop_observer.hpp"
#include "cachebisect/replay/loop/running_block.hpp"
#include "cachebisect/replay/loop/step_call.hpp"
#include "cachebisect/replay/loop/step_input.hpp"
#include "cachebisect/train/in_train_step.hpp"

namespace cachebisect {
namespace {

/// Steps that may be queued at once. A device that does not copy finishes a step when it is
/// submitted.
std::size_t steps_in_flight(const Device& device, const CopyOptions& copy) {
  if (!device.copies()) return 1;
  return static_cast<std::size_t>(std::max(3, copy.prefetch + 1));
}

void check(const BlockSteps& steps) {
  if (steps.warmup < 1 || steps.timed < 1) {
    throw Error(ErrorKind::usage, "a block needs at least one untimed and one timed step");
  }
}

/// The pipeline, if its buffers fit on the device.
const Pipeline& fitting(const Pipeline& pipeline, const Device& device, const CopyOptions& copy) {
  check_device_buffers(pipeline, device, steps_in_flight(device, copy));
  return pipeline;
}

void count_ready(const StepInput& input, BlockTiming& timing) {
  if (const std::optional<int> ready = input.ready()) {
    timing.ready_batches = timing.ready_batches.value_or(0) + *ready;
  }
}

/// Asks the step before this one, without waiting for it. On other devices a step ends when it is
/// submitted, or takes the time that was planted, however late it is launched.
void count_idle(Device& device, const Event& former_step, BlockTiming& timing) {
  if (!device.launching_costs()) return;
  const bool idle = device.synchronize_for(former_step, 0);
  timing.device_idle_share = timing.device_idle_share.value_or(0) + (idle ? 1 : 0);
}

CpuMark cpu_mark() { return {monotonic_seconds(), process_cpu_seconds()}; }

}  // namespace

struct TrainLoop::State {
  State(const Pipeline& chain, Device& on, TrainStep& trained, const CopyOptions& options,
        int synchronized_every)
      : pipeline(fitting(chain, on, options)),
        device(on),
        step(trained),
        sync_every(synchronized_every),
        spin(chain.spec().train.spin),
        compute(on.compute_stream()),
        release(on.when_out_of_memory(
            [&trained] { in_train_step(trained, [&] { trained.release_memory(); }); })),
        events(on, steps_in_flight(on, options)),
        start_mark(on.make_event()),
        end_mark(on.make_event()),
        spin_mark(on.make_spinning_event()),
        stages(chain, on, steps_in_flight(on, options)),
        feeds(chain, on, events, options) {}

  BlockTiming run(const StepSource& source, const BlockSteps& steps, const std::stop_token& stop);
  void make_room(std::uint64_t i, const std::stop_token& stop);
  void start_cpu_time(RunningBlock& block);
  void run_step(std::uint64_t i, StepInput& input, RunningBlock& block,
                const std::stop_token& stop);
  [[nodiscard]] bool time_is_up(const RunningBlock& block) const;
  void finish(const StepInput& input, RunningBlock& block, const std::stop_token& stop);
  [[nodiscard]] BlockMark mark(const StepInput& input) const {
    const double copying = feeds.copier() != nullptr ? feeds.copier()->waited_seconds() : 0;
    return {monotonic_seconds(), input.starved_seconds(), waited + copying};
  }
  void submit(const DeviceBatch& batch, std::uint64_t i, std::uint64_t index);
  void synchronize(std::uint64_t i, const std::stop_token& stop);
  void wait_for(const Event& event, const std::stop_token& stop);
  [[nodiscard]] std::vector<DeviceTime> device_times(std::uint64_t samples);

  const Pipeline& pipeline;
  Device& device;
  TrainStep& step;
  int sync_every;
  bool spin;
  Stream& compute;
  std::shared_ptr<const void> release;  ///< of memory that the step keeps
  StepEvents events;
  std::unique_ptr<Event> start_mark;
  std::unique_ptr<Event> end_mark;
  std::unique_ptr<Event> spin_mark;
  GroupMarks groups;
  DeviceChain stages;
  LoaderFeeds feeds;
  double waited = 0;  ///< seconds in this block that the training thread waited for the device
  LoopObserver* observer = nullptr;  ///< of this block
};

void TrainLoop::State::submit(const DeviceBatch& batch, std::uint64_t i, std::uint64_t index) {
  const ProfilerRange range("step");
  if (observer != nullptr) observer->step_begun(i, batch.size);
  call_step(step, batch, {&compute, &device, index, observer});
  if (observer != nullptr) observer->step_ended(i);
  device.record(events.of(i), compute);
}

void TrainLoop::State::wait_for(const Event& event, const std::stop_token& stop) {
  constexpr double slice = 0.1;  // seconds until a stop is noticed
  if (device.synchronize_for(event, 0)) return;
  const double began = monotonic_seconds();
  if (observer != nullptr) observer->device_wait_begun();
  while (!device.synchronize_for(event, slice)) {
    if (stop.stop_requested()) throw Error(ErrorKind::interrupted, "stopped");
  }
  if (observer != nullptr) observer->device_wait_ended();
  const double seconds = monotonic_seconds() - began;
  waited += seconds;
  if (feeds.loader() != nullptr) feeds.loader()->rested(seconds);
}

void TrainLoop::State::synchronize(std::uint64_t i, const std::stop_token& stop) {
  if (spin) {
    device.record(*spin_mark, compute);
  } else {
    wait_for(events.of(i), stop);  // else LibTorch would spin in loss()
  }
  const double began = monotonic_seconds();
  wait_for_loss(step, device);
  waited += monotonic_seconds() - began;
  wait_for(spin ? *spin_mark : events.of(i), stop);
}

std::vector<DeviceTime> TrainLoop::State::device_times(std::uint64_t samples) {
  std::vector<DeviceTime> all;
  all.push_back(feeds.copier() != nullptr ? feeds.copier()->time() : DeviceTime{0, 0, samples});
  for (const DeviceTime& time : stages.times()) all.push_back(time);
  return all;
}

void TrainLoop::State::make_room(std::uint64_t i, const std::stop_token& stop) {
  if (i < events.size()) return;
  const std::uint64_t done = i - events.size();
  wait_for(events.of(done), stop);
}

/// Once the device has completed the untimed steps. Asked while a later step is queued: an emulated
/// device that is seen to be idle would begin its next step late.
void TrainLoop::State::start_cpu_time(RunningBlock& block) {
  if (!block.cpu_start && device.synchronize_for(*start_mark, 0)) block.cpu_start = cpu_mark();
}

void TrainLoop::State::run_step(std::uint64_t i, StepInput& input, RunningBlock& block,
                                const std::stop_token& stop) {
  const bool timed = i >= block.warmup();
  BlockTiming& timing = block.timing;
  if (timed && block.steps.observe) count_ready(input, timing);
  const DeviceBatch& batch = input.acquire(i, stop);
  if (i == 0) timing.first_batch_seconds = monotonic_seconds() - block.began;
  if (timed) {
    ++timing.steps;
    timing.samples += static_cast<std::uint64_t>(batch.size);
    timing.padding_share += batch.padding_share;
  }
  if (timed && block.steps.observe) count_idle(device, events.of(i - 1), timing);
  const std::uint64_t index = block.steps.first_step + i;
  submit(batch, i, index);
  if (timed) start_cpu_time(block);
  const bool last_untimed = i + 1 == block.warmup();
  if (last_untimed) device.record(*start_mark, compute);
  if (timed && groups.ends_group(timing.steps)) groups.mark(device, compute, timing.samples);
  input.submitted(i);
  if (last_untimed) block.at_start = mark(input);
  if (sync_every > 0 && (index + 1) % static_cast<std::uint64_t>(sync_every) == 0) {
    synchronize(i, stop);
  }
}

/// At the end of a group only, so that all groups are whole.
bool TrainLoop::State::time_is_up(const RunningBlock& block) const {
  const double limit = block.steps.max_seconds;
  return limit > 0 && block.timing.steps > 0 && groups.ends_group(block.timing.steps) &&
         monotonic_seconds() - block.at_start.clock > limit;
}

void TrainLoop::State::finish(const StepInput& input, RunningBlock& block,
                              const std::stop_token& stop) {
  device.record(*end_mark, compute);
  block.finish(mark(input));
  wait_for(*start_mark, stop);
  start_cpu_time(block);
  wait_for(*end_mark, stop);
  const CpuMark end = cpu_mark();
  BlockTiming& timing = block.timing;
  device.synchronize(*start_mark);
  const double began = device.completion_seconds(*start_mark);
  timing.seconds = device.completion_seconds(*end_mark) - began;
  const double seen = std::max(1e-9, end.clock - block.cpu_start->clock);
  timing.cpu_seconds = (end.cpu - block.cpu_start->cpu) / seen * timing.seconds;
  timing.group_taus = groups.taus(device, began);
  if (block.steps.observe) timing.device_stages = device_times(timing.samples);
}

BlockTiming TrainLoop::State::run(const StepSource& source, const BlockSteps& steps,
                                  const std::stop_token& stop) {
  check(steps);
  StepInput input(pipeline, source, feeds.feed_of(source, compute), stages, compute);
  stages.begin(steps.observe);
  if (feeds.copier() != nullptr) feeds.copier()->begin(steps);
  waited = 0;
  observer = steps.observer;
  RunningBlock block{steps, monotonic_seconds()};
  const std::uint64_t total = block.warmup() + static_cast<std::uint64_t>(steps.timed);
  input.begin(total, observer);
  groups.begin(device, steps);
  if (observer != nullptr) observer->block_begun(steps, device, compute);
  for (std::uint64_t i = 0; i < total && !time_is_up(block); ++i) {
    make_room(i, stop);
    run_step(i, input, block, stop);
  }
  finish(input, block, stop);
  if (observer != nullptr) observer->block_ended();
  return block.timing;
}

TrainLoop::TrainLoop(const Pipeline& pipeline, Device& device, TrainStep& step,
                     const CopyOptions& copy, int sync_every)
    : state_(std::make_unique<State>(pipeline, device, step, copy, sync_every)) {}

TrainLoop::~TrainLoop() = default;

BlockTiming TrainLoop::run(const StepSource& source, const BlockSteps& steps,
                           const std::stop_token& stop) {
  return state_->run(source, steps, stop);
}

void TrainLoop::drain() {
  state_->device.abandon(state_->compute);
  state_->feeds.clear();  // new ones begin with an empty copy stream
}

}  // namespace cachebisect
