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

void LoopRecorder::block_begun(const BlockSteps& steps, Device& device, Stream& compute) {
  device_ = &device;
  compute_ = &compute;
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
    submissions_.push_back({device.make_event(), device.make_event()});
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

void LoopRecorder::add(LoopWork work, double begin, double end, std::uint64_t batch, bool starved) {
  if (on_) spans_.add({std::max(begin, began_), end, batch, work, starved});
}

void LoopRecorder::submit(std::uint64_t batch, bool is_copy, Stream& stream) {
  if (!on_ || used_ >= submissions_.size()) return;
  Submission& next = submissions_[used_];
  device_->record(*next.before, stream);
  next.submitted = monotonic_seconds();
  next.batch = batch;
  next.is_copy = is_copy;
}

void LoopRecorder::submitted(Stream& stream) {
  if (!on_ || used_ >= submissions_.size()) return;
  device_->record(*submissions_[used_++].after, stream);
}

void LoopRecorder::wait_begun(std::uint64_t /*batch*/) { wait_ = monotonic_seconds(); }

void LoopRecorder::wait_ended(std::uint64_t batch, bool starved) {
  add(LoopWork::load, wait_, monotonic_seconds(), batch, starved);
}

void LoopRecorder::copy_begun(std::uint64_t batch, Stream& stream) {
  copy_ = monotonic_seconds();
  submit(batch, /*is_copy=*/true, stream);
}

void LoopRecorder::copy_ended(std::uint64_t batch, Stream& stream) {
  submitted(stream);
  add(LoopWork::copy, copy_, monotonic_seconds(), batch);
}

void LoopRecorder::step_begun(std::uint64_t batch, std::int64_t /*samples*/) {
  step_ = part_ = monotonic_seconds();
  submit(batch, /*is_copy=*/false, *compute_);
}

void LoopRecorder::part_ended(StepPart part) {
  const double now = monotonic_seconds();
  add(work_of(part), part_, now, latest_ + 1);
  part_ = now;
}

void LoopRecorder::step_ended(std::uint64_t batch) {
  submitted(*compute_);
  const double now = monotonic_seconds();
  add(LoopWork::step, step_, now, batch);
  add(LoopWork::iteration, iteration_, now, batch);
  iteration_ = now;
  latest_ = batch;
  if (profiler_ != nullptr && batch + 1 == prepare_after_) profiler_->prepare();
  if (batch + 1 == warmup_) begin_recording();
  if (batch + 1 == total_) end_recording(now);
}

void LoopRecorder::device_wait_begun() { device_wait_ = monotonic_seconds(); }

void LoopRecorder::device_wait_ended() {
  add(LoopWork::device_wait, device_wait_, monotonic_seconds(), latest_);
}

void LoopRecorder::block_ended() {
  for (std::size_t i = 0; i < used_; ++i) {
    const Submission& work = submissions_[i];
    const double ready = device_->completion_seconds(*work.before);
    // A copy does not begin before its submission; a step that is submitted late does.
    const double begin = work.is_copy ? std::max(ready, work.submitted) : ready;
    const double end = device_->completion_seconds(*work.after);
    on_device_.push_back({std::min(begin, end), end, work.batch, work.is_copy});
  }
}

}  // namespace cachebisect::profile
