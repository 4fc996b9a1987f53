#include "cachebisect/replay/loop/batch_copier.hpp"

#include "cachebisect/base/clock.hpp"
#include "cachebisect/replay/loop/device_chain.hpp"

namespace cachebisect {

BatchCopier::BatchCopier(Executor& loader, Device& device, Stream& compute, std::size_t places,
                         const CopyOptions& options)
    : loader_(&loader),
      device_(&device),
      compute_(&compute),
      blocking_(!(options.pinned && options.non_blocking)),
      ahead_(blocking_ ? 0 : static_cast<std::uint64_t>(options.prefetch)),
      // Copies run up to `ahead` batches ahead of the steps, and up to `places` steps are in
      // flight.
      timer_(device, 2 * places) {
  if (ahead_ > 0) copy_stream_ = device.make_stream();
  places_.reserve(places);
  for (std::size_t i = 0; i < places; ++i) {
    places_.push_back({OwnedDeviceBatch(device.device_memory()), device.make_event()});
  }
  for (int i = 0; i < loader.slots(); ++i) slot_events_.push_back(device.make_event());
}

void BatchCopier::begin(bool observed) {
  timer_.reset(observed);
  waited_seconds_ = 0;
}

Event* BatchCopier::slot_event(int slot) {
  return slot < 0 ? nullptr : slot_events_.at(static_cast<std::size_t>(slot)).get();
}

void BatchCopier::copy(const ReadyBatch& ready, std::uint64_t number, const Event* free_after) {
  Place& to = place(number);
  Stream& stream = copy_stream_ ? *copy_stream_ : *compute_;
  // On the compute stream, the step that read this buffer precedes the copy anyway.
  if (copy_stream_ && free_after != nullptr) device_->wait(stream, *free_after);
  const double began = blocking_ ? monotonic_seconds() : 0;
  timer_.begin(stream);
  copy_batch(*ready.batch, to.batch, *device_, stream, blocking_);
  timer_.end(stream, ready.batch->size);
  if (blocking_) {
    const double seconds = monotonic_seconds() - began;
    waited_seconds_ += seconds;
    loader_->rested(seconds);
  }
  device_->record(*to.copied, stream);
  Event* slot_free = blocking_ ? nullptr : slot_event(ready.slot);
  if (slot_free != nullptr) device_->record(*slot_free, stream);
  loader_->release(ready, slot_free);
}

bool BatchCopier::copied(std::uint64_t number) {
  return device_->synchronize_for(*place(number).copied, 0);
}

const DeviceBatch& BatchCopier::batch(std::uint64_t number) {
  Place& at = place(number);
  if (copy_stream_) device_->wait(*compute_, *at.copied);
  return at.batch.batch;
}

}  // namespace cachebisect
