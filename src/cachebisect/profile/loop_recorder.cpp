#include "cachebisect/profile/loop_recorder.hpp"

#include <algorithm>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/replay/loop/train_loop.hpp"

namespace cachebisect::profile {
namespace {

/// The number of spans of one batch: load, copy, step, three parts, iteration, and a wait before
/// and after the step.
constexpr std::size_t kSpansPerStep = 9;
/// Batches that are copied ahead when the recording ends, and the like.
constexpr std::size_t kSpare = 64;

LoopWork work_of(StepPart part) noexcept {
  switch (part) {
    case StepPart::forward:
      return LoopWork::forward;
    case StepPart::backward:
      return LoopWork::backward;
    case StepPart::optimizer:
      break;
  }
  return LoopWork::optimizer;
}

}  // namespace

LoopRecorder::LoopRecorder(std::size_t steps, LoadRecorder* workers)
    : steps_(steps), workers_(workers), spans_(kSpansPerStep * steps + kSpare) {}

void LoopRecorder::block_begun(const BlockSteps& steps, Device& device, Stream& /*compute*/) {
  device_ = &device;
  warmup_ = static_cast<std::uint64_t>(steps.warmup);
  total_ = warmup_ + static_cast<std::uint64_t>(steps.timed);
  spans_.clear();
  on_device_.clear();
  used_ = 0;
  on_ = false;
  if (workers_ != nullptr) workers_->clear();
  if (profiler_ != nullptr && prepare_after_ == 0) profiler_->prepare();
  if (device.kind() != DeviceKind::emulated) return;
  on_device_.reserve(2 * steps_ + kSpare);
  while (submissions_.size() < 2 * steps_ + kSpare) {
    submissions_.push_back({.work = DeviceWork(device)});
  }
}

void LoopRecorder::profile_step(StepProfiler* profiler, int untimed) noexcept {
  profiler_ = profiler;
  prepare_after_ = static_cast<std::uint64_t>(std::max(untimed, 0));
}

void LoopRecorder::begin_recording() {
  if (profiler_ != nullptr) profiler_->start();
  if (sampler_ != nullptr) sampler_->start();
  began_ = iteration_ = monotonic_seconds();
  on_ = true;
  if (workers_ != nullptr) workers_->set_on(true);
}

void LoopRecorder::end_recording(double now) {
  on_ = false;
  ended_ = now;
  if (sampler_ != nullptr) sampler_->stop();
  if (workers_ != nullptr) workers_->set_on(false);
}

void LoopRecorder::add(LoopWork work, double begin, const LoopEvent& event) {
  if (on_) spans_.add({std::max(begin, began_), event.seconds, event.batch, work, event.starved});
}

void LoopRecorder::submit(const LoopEvent& event, bool is_copy) {
  if (!on_ || used_ >= submissions_.size()) return;
  Submission& next = submissions_[used_];
  next.work.begin(*device_, event);
  next.batch = event.batch;
  next.is_copy = is_copy;
}

void LoopRecorder::submitted(const LoopEvent& event) {
  if (!on_ || used_ >= submissions_.size()) return;
  submissions_[used_++].work.end(*device_, event);
}

void LoopRecorder::take(const LoopEvent& event) {
  switch (event.moment) {
    case LoopMoment::wait_begun:
      wait_ = event.seconds;
      break;
    case LoopMoment::wait_ended:
      add(LoopWork::load, wait_, event);
      break;
    case LoopMoment::copy_begun:
      copy_ = event.seconds;
      submit(event, /*is_copy=*/true);
      break;
    case LoopMoment::copy_ended:
      submitted(event);
      add(LoopWork::copy, copy_, event);
      break;
    case LoopMoment::step_begun:
      step_ = part_ = event.seconds;
      submit(event, /*is_copy=*/false);
      break;
    case LoopMoment::part_ended:
      add(work_of(event.part), part_, event);
      part_ = event.seconds;
      break;
    case LoopMoment::step_ended:
      submitted(event);
      end_step(event);
      break;
    case LoopMoment::device_wait_begun:
      device_wait_ = event.seconds;
      break;
    case LoopMoment::device_wait_ended:
      add(LoopWork::device_wait, device_wait_, event);
      break;
  }
}

void LoopRecorder::end_step(const LoopEvent& event) {
  add(LoopWork::step, step_, event);
  add(LoopWork::iteration, iteration_, event);
  iteration_ = event.seconds;
  const std::uint64_t done = event.batch + 1;
  if (profiler_ != nullptr && done == prepare_after_) profiler_->prepare();
  if (done == warmup_) begin_recording();
  if (done == total_) end_recording(event.seconds);
}

void LoopRecorder::block_ended() {
  for (std::size_t i = 0; i < used_; ++i) {
    const Submission& one = submissions_[i];
    const Interval span = one.is_copy ? one.work.copy_span(*device_) : one.work.span(*device_);
    on_device_.push_back({std::min(span.low, span.high), span.high, one.batch, one.is_copy});
  }
}

}  // namespace cachebisect::profile
