#include "cachebisect/replay/train_loop.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <optional>
#include <string>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/replay/device_chain.hpp"
#include "cachebisect/replay/device_feed.hpp"

namespace cachebisect {
namespace {

/// Steps that may be queued at once. A device without a queue of its own finishes a step when it is
/// submitted.
std::size_t steps_in_flight(const Device& device, const CopyOptions& copy) {
  if (!device.copies()) return 1;
  return static_cast<std::size_t>(std::max(3, copy.prefetch + 1));
}

}  // namespace

struct TrainLoop::State {
  State(const Pipeline& chain, Device& on, TrainStep& trained, const CopyOptions& options,
        int synchronised_every)
      : pipeline(chain),
        device(on),
        step(trained),
        copy(options),
        sync_every(synchronised_every),
        compute(on.make_stream()),
        events(on, steps_in_flight(on, options)),
        start_mark(on.make_event()),
        end_mark(on.make_event()),
        stages(chain, on) {}

  DeviceFeed& feed_of(Executor& from);
  BlockTiming run(DeviceFeed& feed, std::size_t boundary, const BlockSteps& steps,
                  const std::stop_token& stop);
  void submit(const DeviceBatch& batch, std::uint64_t i, std::uint64_t index);
  void wait_for(const Event& event, const std::stop_token& stop);

  const Pipeline& pipeline;
  Device& device;
  TrainStep& step;
  CopyOptions copy;
  int sync_every;
  std::unique_ptr<Stream> compute;
  StepEvents events;
  std::unique_ptr<Event> start_mark;
  std::unique_ptr<Event> end_mark;
  DeviceChain stages;
  Executor* loader = nullptr;  ///< that `loaded` belongs to
  std::unique_ptr<DeviceFeed> loaded;
};

DeviceFeed& TrainLoop::State::feed_of(Executor& from) {
  if (loader != &from) {
    if (device.copies()) {
      loaded = std::make_unique<CopyFeed>(from, device, *compute, events, copy);
    } else {
      loaded = std::make_unique<HandOverFeed>(from);
    }
    loader = &from;
  }
  return *loaded;
}

void TrainLoop::State::submit(const DeviceBatch& batch, std::uint64_t i, std::uint64_t index) {
  try {
    step.step(batch, {compute.get(), &device, index});
  } catch (const Error& error) {
    throw error.with_context("training step '" + step.name() + "'");
  } catch (const std::exception& error) {
    throw Error(ErrorKind::data, "training step '" + step.name() + "': " + error.what());
  }
  device.record(events.of(i), *compute);
}

void TrainLoop::State::wait_for(const Event& event, const std::stop_token& stop) {
  // An emulated event's time is known when it is recorded, so that a long step can be left on stop.
  if (device.kind() == DeviceKind::emulated) {
    constexpr double slice = 0.1;
    const double end = device.completion_seconds(event);
    for (double now = monotonic_seconds(); end - now > slice; now = monotonic_seconds()) {
      if (stop.stop_requested()) throw Error(ErrorKind::interrupted, "stopped");
      sleep_until(now + slice);
    }
  }
  device.synchronize(event);
  if (stop.stop_requested()) throw Error(ErrorKind::interrupted, "stopped");
}

BlockTiming TrainLoop::State::run(DeviceFeed& feed, std::size_t boundary, const BlockSteps& steps,
                                  const std::stop_token& stop) {
  if (steps.warmup < 1 || steps.timed < 1) {
    throw Error(ErrorKind::usage, "a block needs at least one untimed and one timed step");
  }
  const auto warmup = static_cast<std::uint64_t>(steps.warmup);
  const std::uint64_t total = warmup + static_cast<std::uint64_t>(steps.timed);
  BlockTiming timing;
  std::optional<double> cpu_start;
  double starved_start = 0;
  const double begin = monotonic_seconds();
  feed.begin(total);
  for (std::uint64_t i = 0; i < total; ++i) {
    if (i >= events.size()) {
      const std::uint64_t done = i - events.size();
      wait_for(events.of(done), stop);
      if (done + 1 == warmup) cpu_start = process_cpu_seconds();
    }
    const DeviceBatch& batch = feed.acquire(i, stop);
    if (i == 0) timing.first_batch_seconds = monotonic_seconds() - begin;
    if (i >= warmup) {
      timing.samples += static_cast<std::uint64_t>(batch.size);
      timing.padding_share += batch.padding_share / static_cast<double>(steps.timed);
    }
    submit(stages.run(batch, boundary, *compute), i, steps.first_step + i);
    if (i + 1 == warmup) device.record(*start_mark, *compute);
    feed.submitted(i);
    if (i + 1 == warmup) starved_start = feed.starved_seconds();
    if (sync_every > 0 &&
        (steps.first_step + i + 1) % static_cast<std::uint64_t>(sync_every) == 0) {
      (void)step.loss();
      wait_for(events.of(i), stop);
    }
  }
  device.record(*end_mark, *compute);
  if (!cpu_start) {
    wait_for(*start_mark, stop);
    cpu_start = process_cpu_seconds();
  }
  wait_for(*end_mark, stop);
  timing.cpu_seconds = process_cpu_seconds() - *cpu_start;
  timing.starved_seconds = feed.starved_seconds() - starved_start;
  device.synchronize(*start_mark);
  timing.seconds = device.completion_seconds(*end_mark) - device.completion_seconds(*start_mark);
  return timing;
}

TrainLoop::TrainLoop(const Pipeline& pipeline, Device& device, TrainStep& step,
                     const CopyOptions& copy, int sync_every)
    : state_(std::make_unique<State>(pipeline, device, step, copy, sync_every)) {}

TrainLoop::~TrainLoop() = default;

BlockTiming TrainLoop::run(Executor& loader, const BlockSteps& steps, const std::stop_token& stop) {
  return state_->run(state_->feed_of(loader), state_->pipeline.copy_position() + 1, steps, stop);
}

BlockTiming TrainLoop::run(std::span<const DeviceBatch> batches, std::size_t boundary,
                           std::uint64_t first, const BlockSteps& steps,
                           const std::stop_token& stop) {
  CachedFeed feed(batches, first);
  return state_->run(feed, boundary, steps, stop);
}

void TrainLoop::drain() {
  State& s = *state_;
  s.device.record(*s.end_mark, *s.compute);
  s.device.synchronize(*s.end_mark);
  s.loaded.reset();  // a new feed begins with an empty copy stream
  s.loader = nullptr;
}

}  // namespace cachebisect
