#include "cachebisect/replay/device_feed.hpp"

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/replay/device_chain.hpp"

namespace cachebisect {

StepEvents::StepEvents(Device& device, std::size_t count) {
  events_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) events_.push_back(device.make_event());
}

DeviceFeed::~DeviceFeed() = default;

ReadyBatch DeviceFeed::wait_for_batch(Executor& loader, const std::stop_token& stop) {
  const double begin = monotonic_seconds();
  const ReadyBatch ready = loader.next(stop);
  starved_seconds_ += monotonic_seconds() - begin;
  return ready;
}

void HandOverFeed::begin(std::uint64_t /*steps*/) { reset_starved(); }

const DeviceBatch& HandOverFeed::acquire(std::uint64_t /*step*/, const std::stop_token& stop) {
  ready_ = wait_for_batch(*loader_, stop);
  static_cast<Batch&>(look_) = *ready_.batch;
  return look_;
}

void HandOverFeed::submitted(std::uint64_t /*step*/) { loader_->release(ready_, nullptr); }

CopyFeed::CopyFeed(Executor& loader, Device& device, Stream& compute, StepEvents& steps,
                   const CopyOptions& options)
    : loader_(&loader),
      device_(&device),
      compute_(&compute),
      steps_(&steps),
      blocking_(!(options.pinned && options.non_blocking)),
      ahead_(blocking_ ? 0 : static_cast<std::uint64_t>(options.prefetch)) {
  if (ahead_ > 0) copy_stream_ = device.make_stream();
  places_.reserve(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    places_.push_back({OwnedDeviceBatch(device.device_memory()), device.make_event()});
  }
  for (int i = 0; i < loader.slots(); ++i) slot_events_.push_back(device.make_event());
}

void CopyFeed::begin(std::uint64_t steps) {
  reset_starved();
  copied_ = 0;
  total_ = steps;
}

Event* CopyFeed::slot_event(int slot) {
  return slot < 0 ? nullptr : slot_events_.at(static_cast<std::size_t>(slot)).get();
}

void CopyFeed::copy(const ReadyBatch& ready) {
  Place& place = places_[copied_ % places_.size()];
  Stream& stream = copy_stream_ ? *copy_stream_ : *compute_;
  // On the compute stream the step that read this buffer is ahead of the copy anyway.
  if (copy_stream_ && copied_ >= places_.size()) {
    device_->wait(stream, steps_->of(copied_ - places_.size()));
  }
  copy_batch(*ready.batch, place.batch, *device_, stream, blocking_);
  device_->record(*place.copied, stream);
  Event* free_after = blocking_ ? nullptr : slot_event(ready.slot);
  if (free_after != nullptr) device_->record(*free_after, stream);
  loader_->release(ready, free_after);
  ++copied_;
}

const DeviceBatch& CopyFeed::acquire(std::uint64_t step, const std::stop_token& stop) {
  if (copied_ == step) copy(wait_for_batch(*loader_, stop));
  Place& place = places_[step % places_.size()];
  if (copy_stream_) device_->wait(*compute_, *place.copied);
  return place.batch.batch;
}

void CopyFeed::submitted(std::uint64_t step) {
  while (copied_ < total_ && copied_ < step + 1 + ahead_) {
    const ReadyBatch ready = loader_->try_next();
    if (ready.batch == nullptr) return;
    copy(ready);
  }
}

void CachedFeed::begin(std::uint64_t /*steps*/) { reset_starved(); }

const DeviceBatch& CachedFeed::acquire(std::uint64_t step, const std::stop_token& stop) {
  if (stop.stop_requested()) throw Error(ErrorKind::interrupted, "stopped");
  return batches_[(first_ + step) % batches_.size()];
}

void CachedFeed::submitted(std::uint64_t /*step*/) {}

}  // namespace cachebisect
