#include "cachebisect/timing/step_timer.hpp"

#include <algorithm>
#include <utility>

#include "cachebisect/observe/device_work.hpp"
#include "cachebisect/replay/loop/train_loop.hpp"

namespace cachebisect {
namespace {

/// Steps in flight on the device, in a loop that copies `ahead` batches ahead (train_loop.hpp).
std::size_t places_for(int ahead) {
  const auto in_flight = static_cast<std::size_t>(std::max(3, ahead + 1));
  return in_flight + static_cast<std::size_t>(std::max(0, ahead)) + 2;
}

}  // namespace

/// What is known of one batch while it is in flight.
struct StepTimer::Place {
  explicit Place(Device& device) : copy(device), step(device) {
    for (auto& event : part_ends) event = device.make_event();
  }

  void end_wait(const LoopEvent& event) {
    wait_seconds = event.seconds - wait_begin;
    starved = event.starved;
  }
  void end_copy(Device& device, const LoopEvent& event) {
    copy.end(device, event);
    copied = true;
  }
  void begin_step(Device& device, const LoopEvent& event) {
    samples = event.samples;
    step.begin(device, event);
  }
  void end_part(Device& device, const LoopEvent& event) {
    const auto index = static_cast<std::size_t>(event.part);
    device.record(*part_ends.at(index), *event.stream);
    told.at(index) = true;
  }
  void end_step(Device& device, const LoopEvent& event) {
    step.end(device, event);
    queued = true;
  }

  DeviceWork copy;
  DeviceWork step;
  std::array<std::unique_ptr<Event>, kStepParts> part_ends;

  std::uint64_t batch = 0;
  std::int64_t samples = 0;
  bool open = false;    ///< belongs to a batch
  bool queued = false;  ///< its step
  bool copied = false;
  bool starved = false;
  std::array<bool, kStepParts> told{};
  double wait_begin = 0;
  double wait_seconds = 0;
};

StepTimer::StepTimer(std::size_t batches, int ahead)
    : max_batches_(batches), places_needed_(places_for(ahead)) {
  batches_.reserve(batches);
}

StepTimer::~StepTimer() = default;

void StepTimer::block_begun(const BlockSteps& steps, Device& device, Stream& /*compute*/) {
  if (device_ != &device) places_.clear();
  device_ = &device;
  warmup_ = static_cast<std::uint64_t>(steps.warmup);
  former_end_.reset();
  places_.reserve(places_needed_);
  while (places_.size() < places_needed_) places_.emplace_back(device);
  for (Place& place : places_) place.open = false;
}

StepTimer::Place& StepTimer::open(std::uint64_t batch) {
  Place& place = places_[batch % places_.size()];
  if (place.open && place.batch == batch) return place;
  collect(place);
  place.batch = batch;
  place.open = true;
  place.queued = place.copied = place.starved = false;
  place.told.fill(false);
  place.wait_seconds = 0;
  return place;
}

void StepTimer::take(const LoopEvent& event) {
  switch (event.moment) {
    case LoopMoment::wait_begun:
      open(event.batch).wait_begin = event.seconds;
      break;
    case LoopMoment::wait_ended:
      open(event.batch).end_wait(event);
      break;
    case LoopMoment::copy_begun:
      open(event.batch).copy.begin(*device_, event);
      break;
    case LoopMoment::copy_ended:
      open(event.batch).end_copy(*device_, event);
      break;
    case LoopMoment::step_begun:
      open(event.batch).begin_step(*device_, event);
      running_ = event.batch;
      break;
    case LoopMoment::part_ended:
      open(event.batch).end_part(*device_, event);
      break;
    case LoopMoment::step_ended:
      open(event.batch).end_step(*device_, event);
      break;
    case LoopMoment::device_wait_begun:
    case LoopMoment::device_wait_ended:
      break;
  }
}

void StepTimer::block_ended() {
  // Each place once, from the oldest batch on.
  const std::uint64_t next = running_ + 1;
  for (std::uint64_t i = 0; i < places_.size(); ++i) {
    collect(places_[(next + i) % places_.size()]);
  }
}

BatchMarks StepTimer::marks_of(const Place& place) const {
  const Interval step = place.step.span(*device_);
  BatchMarks marks;
  marks.step_begin = step.low;
  marks.step_end = step.high;
  marks.wait_seconds = place.wait_seconds;
  if (place.copied) marks.copy = place.copy.copy_span(*device_);
  for (std::size_t i = 0; i < place.told.size(); ++i) {
    if (place.told[i]) marks.part_ends[i] = device_->completion_seconds(*place.part_ends[i]);
  }
  return marks;
}

/// The step of a place that is used again is done: fewer are in flight.
void StepTimer::collect(Place& place) {
  if (!place.open || !place.queued) return;
  place.open = false;
  const Event& end = place.step.ended();
  if (!device_->synchronize_for(end, 0)) device_->synchronize(end);
  BatchMarks marks = marks_of(place);
  const std::optional<double> former = std::exchange(former_end_, marks.step_end);
  if (place.batch < warmup_ || !former || batches_.size() == max_batches_) return;
  marks.former_end = *former;
  BatchTimes times = split_batch(marks);
  times.batch = batches_.size();
  times.samples = place.samples;
  times.starved = place.starved;
  batches_.push_back(times);
}

}  // namespace cachebisect
