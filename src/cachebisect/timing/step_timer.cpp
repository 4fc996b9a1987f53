#include "cachebisect/timing/step_timer.hpp"

#include <algorithm>
#include <utility>

#include "cachebisect/base/clock.hpp"
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
  explicit Place(Device& device)
      : copy_begin(device.make_event()),
        copy_end(device.make_event()),
        step_begin(device.make_event()),
        step_end(device.make_event()) {
    for (auto& event : part_ends) event = device.make_event();
  }

  std::unique_ptr<Event> copy_begin;
  std::unique_ptr<Event> copy_end;
  std::unique_ptr<Event> step_begin;
  std::unique_ptr<Event> step_end;
  std::array<std::unique_ptr<Event>, kStepParts> part_ends;

  std::uint64_t batch = 0;
  std::int64_t samples = 0;
  bool open = false;    ///< belongs to a batch
  bool queued = false;  ///< its step
  bool copied = false;
  bool starved = false;
  std::array<bool, kStepParts> told{};
  double copy_queued = 0;  ///< host's clock
  double wait_begin = 0;
  double wait_seconds = 0;
};

StepTimer::StepTimer(std::size_t batches, int ahead)
    : max_batches_(batches), places_needed_(places_for(ahead)) {
  batches_.reserve(batches);
}

StepTimer::~StepTimer() = default;

void StepTimer::block_begun(const BlockSteps& steps, Device& device, Stream& compute) {
  if (device_ != &device) places_.clear();
  device_ = &device;
  compute_ = &compute;
  host_clock_ = device.kind() != DeviceKind::cuda;
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

void StepTimer::wait_begun(std::uint64_t batch) { open(batch).wait_begin = monotonic_seconds(); }

void StepTimer::wait_ended(std::uint64_t batch, bool starved) {
  Place& place = open(batch);
  place.wait_seconds = monotonic_seconds() - place.wait_begin;
  place.starved = starved;
}

void StepTimer::copy_begun(std::uint64_t batch, Stream& stream) {
  Place& place = open(batch);
  device_->record(*place.copy_begin, stream);
  place.copy_queued = monotonic_seconds();
}

void StepTimer::copy_ended(std::uint64_t batch, Stream& stream) {
  Place& place = open(batch);
  device_->record(*place.copy_end, stream);
  place.copied = true;
}

void StepTimer::step_begun(std::uint64_t batch, std::int64_t samples) {
  Place& place = open(batch);
  running_ = batch;
  place.samples = samples;
  device_->record(*place.step_begin, *compute_);
}

void StepTimer::part_ended(StepPart part) {
  Place& place = open(running_);
  const auto index = static_cast<std::size_t>(part);
  device_->record(*place.part_ends.at(index), *compute_);
  place.told.at(index) = true;
}

void StepTimer::step_ended(std::uint64_t batch) {
  Place& place = open(batch);
  device_->record(*place.step_end, *compute_);
  place.queued = true;
}

void StepTimer::block_ended() {
  // Each place once, from the oldest batch on.
  const std::uint64_t next = running_ + 1;
  for (std::uint64_t i = 0; i < places_.size(); ++i) {
    collect(places_[(next + i) % places_.size()]);
  }
}

BatchMarks StepTimer::marks_of(const Place& place) const {
  BatchMarks marks;
  marks.step_begin = device_->completion_seconds(*place.step_begin);
  marks.step_end = device_->completion_seconds(*place.step_end);
  marks.wait_seconds = place.wait_seconds;
  if (place.copied) {
    double begin = device_->completion_seconds(*place.copy_begin);
    // On the emulated timeline, the end of earlier work may precede the queuing on an empty stream.
    if (host_clock_) begin = std::max(begin, place.copy_queued);
    marks.copy = Interval{begin, device_->completion_seconds(*place.copy_end)};
  }
  for (std::size_t i = 0; i < place.told.size(); ++i) {
    if (place.told[i]) marks.part_ends[i] = device_->completion_seconds(*place.part_ends[i]);
  }
  return marks;
}

/// The step of a place that is used again is done: fewer are in flight.
void StepTimer::collect(Place& place) {
  if (!place.open || !place.queued) return;
  place.open = false;
  if (!device_->synchronize_for(*place.step_end, 0)) device_->synchronize(*place.step_end);
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
