// The ways of the loader's batches to the training loop: handed over, copied or dropped.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "cachebisect/data/batch.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/executor/executor.hpp"
#include "cachebisect/replay/loop/batch_copier.hpp"
#include "cachebisect/replay/loop/loop_observer.hpp"

namespace cachebisect {

/// Completion events of the last `size()` training steps; a device buffer is free when the step
/// that read it is done. Step i is kept until step i + size() is recorded.
class StepEvents {
 public:
  StepEvents(Device& device, std::size_t count);
  [[nodiscard]] std::size_t size() const noexcept { return events_.size(); }
  [[nodiscard]] Event& of(std::uint64_t step) noexcept { return *events_[step % events_.size()]; }

 private:
  std::vector<std::unique_ptr<Event>> events_;
};

/// Takes the loader's batches in order, step by step. Called only by the training thread.
class DeviceFeed {
 public:
  explicit DeviceFeed(Executor& loader) : loader_(&loader) {}
  DeviceFeed(const DeviceFeed&) = delete;
  DeviceFeed& operator=(const DeviceFeed&) = delete;
  virtual ~DeviceFeed();
  /// The blocks that follow take the batches of this loader.
  void use(Executor& loader) noexcept { loader_ = &loader; }
  /// Who follows the waits of the next block; may be null.
  void observe(LoopObserver* observer) noexcept { observer_ = observer; }
  /// Begins a block of `steps` steps.
  virtual void begin(std::uint64_t steps) = 0;
  /// The loader's batch for step `step`, ready for work queued on the compute stream; null if no
  /// batch reaches the device. Throws what the loader throws.
  virtual const DeviceBatch* acquire(std::uint64_t step, const std::stop_token& stop) = 0;
  /// Step `step` has been queued and its event recorded.
  virtual void submitted(std::uint64_t step) = 0;
  /// Seconds since begin() that the training thread waited for the loader.
  [[nodiscard]] double starved_seconds() const noexcept { return starved_seconds_; }
  [[nodiscard]] Executor& loader() const noexcept { return *loader_; }

 protected:
  /// The loader's next batch, the block's number `batch`; counts the wait.
  ReadyBatch wait_for_batch(std::uint64_t batch, const std::stop_token& stop);
  /// A batch that the ring has kept, if the workers do not load yet and there is one: the block's
  /// number `batch`.
  ReadyBatch kept_batch(std::uint64_t batch);
  void reset_starved() noexcept { starved_seconds_ = 0; }

 private:
  [[nodiscard]] bool would_wait() const;

  Executor* loader_;
  LoopObserver* observer_ = nullptr;
  double starved_seconds_ = 0;
};

/// For a device that reads host memory itself (cpu): hands over the slot and gives it back after
/// the step. Paced: takes only a slot that is ready, without waiting.
class HandOverFeed final : public DeviceFeed {
 public:
  HandOverFeed(Executor& loader, bool paced) : DeviceFeed(loader), paced_(paced) {}
  void begin(std::uint64_t steps) override;
  const DeviceBatch* acquire(std::uint64_t step, const std::stop_token& stop) override;
  void submitted(std::uint64_t step) override;

 private:
  bool paced_;
  ReadyBatch ready_;
  DeviceBatch view_;
};

/// Copies batches to the device. In a steady loop that copies ahead, no step waits for its copy;
/// the first one of a block does, and the workers begin after it, or they would be ahead by that
/// time.
class CopyFeed final : public DeviceFeed {
 public:
  CopyFeed(Executor& loader, BatchCopier& copier, StepEvents& steps)
      : DeviceFeed(loader), copier_(&copier), steps_(&steps) {}
  void begin(std::uint64_t steps) override;
  const DeviceBatch* acquire(std::uint64_t step, const std::stop_token& stop) override;
  void submitted(std::uint64_t step) override;

 private:
  void begin_loading();
  void copy(const ReadyBatch& ready);

  BatchCopier* copier_;
  StepEvents* steps_;
  std::uint64_t copied_ = 0;
  std::uint64_t total_ = 0;
};

/// Copies at most one batch per step, and only one that is ready: neither the training thread nor
/// the compute stream waits for it. Batches are copied as far ahead as in a live loop.
class PacedCopyFeed final : public DeviceFeed {
 public:
  PacedCopyFeed(Executor& loader, BatchCopier& copier, StepEvents& steps)
      : DeviceFeed(loader), copier_(&copier), steps_(&steps), used_at_(copier.places()) {}
  void begin(std::uint64_t steps) override;
  const DeviceBatch* acquire(std::uint64_t step, const std::stop_token& stop) override;
  void submitted(std::uint64_t step) override;

 private:
  void copy_ready(std::uint64_t step);

  BatchCopier* copier_;
  StepEvents* steps_;
  std::vector<std::uint64_t> used_at_;  ///< by place: the step that used its last batch
  std::uint64_t copied_ = 0;
  std::uint64_t used_ = 0;
};

/// Waits for batches as a live loop does, and gives back their slots without copying them.
class DropFeed final : public DeviceFeed {
 public:
  using DeviceFeed::DeviceFeed;
  void begin(std::uint64_t steps) override;
  const DeviceBatch* acquire(std::uint64_t step, const std::stop_token& stop) override;
  void submitted(std::uint64_t step) override;
};

}  // namespace cachebisect
