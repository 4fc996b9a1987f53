#include "cachebisect/observe/loop_events.hpp"

#include <utility>

#include "cachebisect/base/clock.hpp"

namespace cachebisect {

LoopView::~LoopView() = default;

LoopEvents::LoopEvents(std::vector<LoopView*> views) : views_(std::move(views)) {}

void LoopEvents::give(LoopEvent event) {
  event.seconds = monotonic_seconds();
  for (LoopView* const view : views_) view->take(event);
}

void LoopEvents::block_begun(const BlockSteps& steps, Device& device, Stream& compute) {
  compute_ = &compute;
  running_ = 0;
  for (LoopView* const view : views_) view->block_begun(steps, device, compute);
}

void LoopEvents::wait_begun(std::uint64_t batch) {
  give({.moment = LoopMoment::wait_begun, .batch = batch});
}

void LoopEvents::wait_ended(std::uint64_t batch, bool starved) {
  give({.moment = LoopMoment::wait_ended, .batch = batch, .starved = starved});
}

void LoopEvents::copy_begun(std::uint64_t batch, Stream& stream) {
  give({.moment = LoopMoment::copy_begun, .batch = batch, .stream = &stream});
}

void LoopEvents::copy_ended(std::uint64_t batch, Stream& stream) {
  give({.moment = LoopMoment::copy_ended, .batch = batch, .stream = &stream});
}

void LoopEvents::step_begun(std::uint64_t batch, std::int64_t samples) {
  running_ = batch;
  give({.moment = LoopMoment::step_begun, .batch = batch, .stream = compute_, .samples = samples});
}

void LoopEvents::part_ended(StepPart part) {
  give({.moment = LoopMoment::part_ended, .batch = running_, .stream = compute_, .part = part});
}

void LoopEvents::step_ended(std::uint64_t batch) {
  give({.moment = LoopMoment::step_ended, .batch = batch, .stream = compute_});
}

void LoopEvents::device_wait_begun() {
  give({.moment = LoopMoment::device_wait_begun, .batch = running_});
}

void LoopEvents::device_wait_ended() {
  give({.moment = LoopMoment::device_wait_ended, .batch = running_});
}

void LoopEvents::block_ended() {
  for (LoopView* const view : views_) view->block_ended();
}

}  // namespace cachebisect
