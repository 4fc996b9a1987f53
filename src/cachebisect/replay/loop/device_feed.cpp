#include "cachebisect/replay/loop/device_feed.hpp"

#include "cachebisect/base/clock.hpp"

namespace cachebisect {

StepEvents::StepEvents(Device& device, std::size_t count) {
  events_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) events_.push_back(device.make_event());
}

DeviceFeed::~DeviceFeed() = default;

/// Without workers the training thread loads the batch itself.
bool DeviceFeed::would_wait() const {
  return loader_->workers() == 0 || loader_->ready().value_or(1) == 0;
}

ReadyBatch DeviceFeed::wait_for_batch(std::uint64_t batch, const std::stop_token& stop) {
  const double begin = monotonic_seconds();
  const bool starved = observer_ != nullptr && would_wait();
  if (observer_ != nullptr) observer_->wait_begun(batch);
  const ReadyBatch ready = loader_->next(stop);
  if (observer_ != nullptr) observer_->wait_ended(batch, starved);
  starved_seconds_ += monotonic_seconds() - begin;
  return ready;
}

ReadyBatch DeviceFeed::kept_batch(std::uint64_t batch) {
  if (loader_->is_loading()) return {};
  const ReadyBatch kept = loader_->try_next();
  if (kept.batch != nullptr && observer_ != nullptr) {
    observer_->wait_begun(batch);
    observer_->wait_ended(batch, false);
  }
  return kept;
}

void HandOverFeed::begin(std::uint64_t /*steps*/) { reset_starved(); }

const DeviceBatch* HandOverFeed::acquire(std::uint64_t step, const std::stop_token& stop) {
  loader().go();
  ready_ = paced_ ? loader().try_next() : wait_for_batch(step, stop);
  if (ready_.batch == nullptr) return nullptr;
  static_cast<Batch&>(view_) = *ready_.batch;
  return &view_;
}

void HandOverFeed::submitted(std::uint64_t /*step*/) {
  if (ready_.batch != nullptr) loader().release(ready_, nullptr);
}

void CopyFeed::begin(std::uint64_t steps) {
  reset_starved();
  copied_ = 0;
  total_ = steps;
}

void CopyFeed::copy(const ReadyBatch& ready) {
  const std::uint64_t places = copier_->places();
  copier_->copy(ready, copied_, copied_ >= places ? &steps_->of(copied_ - places) : nullptr);
  ++copied_;
}

void CopyFeed::begin_loading() {
  if (copier_->ahead() > 0) {
    const ReadyBatch kept = kept_batch(0);
    if (kept.batch != nullptr) {
      copy(kept);
      copier_->await(0);
    }
  }
  loader().go();
}

const DeviceBatch* CopyFeed::acquire(std::uint64_t step, const std::stop_token& stop) {
  if (step == 0) begin_loading();
  if (copied_ == step) copy(wait_for_batch(step, stop));
  return &copier_->batch(step);
}

void CopyFeed::submitted(std::uint64_t step) {
  while (copied_ < total_ && copied_ < step + 1 + copier_->ahead()) {
    const ReadyBatch ready = loader().try_next();
    if (ready.batch == nullptr) return;
    copy(ready);
  }
}

void PacedCopyFeed::begin(std::uint64_t /*steps*/) {
  reset_starved();
  copied_ = 0;
  used_ = 0;
}

void PacedCopyFeed::copy_ready(std::uint64_t step) {
  if (copied_ - used_ >= copier_->places()) return;
  const ReadyBatch ready = loader().try_next();
  if (ready.batch == nullptr) return;
  const bool fresh = copied_ < copier_->places();
  const std::uint64_t last_use = used_at_[copied_ % copier_->places()];
  // The events of older steps have been reused, and those steps are done.
  const bool kept = !fresh && last_use + steps_->size() > step;
  copier_->copy(ready, copied_, kept ? &steps_->of(last_use) : nullptr);
  ++copied_;
}

const DeviceBatch* PacedCopyFeed::acquire(std::uint64_t step, const std::stop_token& /*stop*/) {
  loader().go();
  if (copier_->ahead() == 0) copy_ready(step);
  const std::uint64_t waiting = copied_ - used_;
  if (waiting == 0 || waiting < copier_->ahead()) return nullptr;
  if (copier_->ahead() > 0 && !copier_->copied(used_)) return nullptr;
  used_at_[used_ % copier_->places()] = step;
  return &copier_->batch(used_++);
}

void PacedCopyFeed::submitted(std::uint64_t step) {
  if (copier_->ahead() > 0) copy_ready(step);
}

void DropFeed::begin(std::uint64_t /*steps*/) { reset_starved(); }

const DeviceBatch* DropFeed::acquire(std::uint64_t step, const std::stop_token& stop) {
  loader().release(wait_for_batch(step, stop), nullptr);
  return nullptr;
}

void DropFeed::submitted(std::uint64_t /*step*/) {}

}  // namespace cachebisect
