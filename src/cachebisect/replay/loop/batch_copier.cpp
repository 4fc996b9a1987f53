#include "cachebisect/replay/loop/batch_copier.hpp"

#include "cachebisect/base/clock.hpp"
#include "cachebisect/device/profiler_range.hpp"
#include "cachebisect/executor/slot_memory.hpp"
#include "cachebisect/replay/loop/device_chain.hpp"
#include "cachebisect/replay/loop/train_loop.hpp"

namespace cachebisect {
namespace {

bool is_blocking(const CopyOptions& options, const Device& device) {
  return !options.non_blocking || (!options.pinned && device.kind() == DeviceKind::emulated);
}

}  // namespace

BatchCopier::BatchCopier(Executor& loader, Device& device, Stream& compute, std::size_t places,
                         const ChainStage& copy, const CopyOptions& options, bool spin)
    : loader_(&loader),
      device_(&device),
      compute_(&compute),
      holds_host_(!(options.pinned && options.non_blocking)),
      blocking_(is_blocking(options, device)),
      ahead_(holds_host_ ? 0 : static_cast<std::uint64_t>(options.prefetch)),
      // Copies run up to `ahead` batches ahead of the steps, and up to `places` steps are in
      // flight.
      timer_(device, 2 * places) {
  if (ahead_ > 0) copy_stream_ = device.make_stream();
  places_.reserve(places);
  for (std::size_t i = 0; i < places; ++i) {
    places_.push_back({OwnedDeviceBatch(device.device_memory()),
                       blocking_ && spin ? device.make_spinning_event() : device.make_event()});
    make_room(places_.back().batch, copy, {});
  }
  use(loader);
}

void BatchCopier::use(Executor& loader) {
  loader_ = &loader;
  while (std::ssize(slot_events_) < loader.slots()) slot_events_.push_back(device_->make_event());
}

void BatchCopier::begin(const BlockSteps& steps) {
  timer_.reset(steps.observe);
  observer_ = steps.observer;
  waited_seconds_ = 0;
}

Event* BatchCopier::slot_event(int slot) {
  return slot < 0 ? nullptr : slot_events_.at(static_cast<std::size_t>(slot)).get();
}

void BatchCopier::copy(const ReadyBatch& ready, std::uint64_t number, const Event* free_after) {
  const ProfilerRange range("copy");
  Place& to = place(number);
  Stream& stream = copy_stream_ ? *copy_stream_ : *compute_;
  // On the compute stream, the step that read this buffer precedes the copy anyway.
  if (copy_stream_ && free_after != nullptr) device_->wait(stream, *free_after);
  const double began = holds_host_ ? monotonic_seconds() : 0;
  if (observer_ != nullptr) observer_->copy_begun(number, stream);
  timer_.begin(stream);
  copy_batch(*ready.batch, to.batch, *device_, stream, /*blocking=*/false);
  timer_.end(stream, ready.batch->size);
  device_->record(*to.copied, stream);
  if (blocking_) device_->synchronize(*to.copied);
  if (observer_ != nullptr) observer_->copy_ended(number, stream);
  if (holds_host_) {
    const double seconds = monotonic_seconds() - began;
    waited_seconds_ += seconds;
    loader_->rested(seconds);
  }
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
