// Where the training loop gets its device batches: handed over, copied, or from the cache.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "cachebisect/data/batch.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/pipeline/executor.hpp"
#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect {

/// Events behind the last `size()` training steps; a device buffer is free when the step that read
/// it is done. Step i is kept until step i + size() is recorded.
class StepEvents {
 public:
  StepEvents(Device& device, std::size_t count);
  [[nodiscard]] std::size_t size() const noexcept { return events_.size(); }
  [[nodiscard]] Event& of(std::uint64_t step) noexcept { return *events_[step % events_.size()]; }

 private:
  std::vector<std::unique_ptr<Event>> events_;
};

/// Gives the batch of each step of a block, in order. Called by the training thread alone.
class DeviceFeed {
 public:
  DeviceFeed() = default;
  DeviceFeed(const DeviceFeed&) = delete;
  DeviceFeed& operator=(const DeviceFeed&) = delete;
  virtual ~DeviceFeed();
  /// Begins a block of `steps` steps.
  virtual void begin(std::uint64_t steps) = 0;
  /// The batch of step `step`, ready for work queued on the compute stream. Throws what the loader
  /// throws.
  virtual const DeviceBatch& acquire(std::uint64_t step, const std::stop_token& stop) = 0;
  /// Step `step` has been queued and its event recorded.
  virtual void submitted(std::uint64_t step) = 0;
  /// Seconds since begin() that the training thread waited for the loader.
  [[nodiscard]] double starved_seconds() const noexcept { return starved_seconds_; }

 protected:
  /// The loader's next batch; the wait is counted.
  ReadyBatch wait_for_batch(Executor& loader, const std::stop_token& stop);
  void reset_starved() noexcept { starved_seconds_ = 0; }

 private:
  double starved_seconds_ = 0;
};

/// The device reads host memory itself (cpu): the slot is handed over, and goes back after the
/// step.
class HandOverFeed final : public DeviceFeed {
 public:
  explicit HandOverFeed(Executor& loader) : loader_(&loader) {}
  void begin(std::uint64_t steps) override;
  const DeviceBatch& acquire(std::uint64_t step, const std::stop_token& stop) override;
  void submitted(std::uint64_t step) override;

 private:
  Executor* loader_;
  ReadyBatch ready_;
  DeviceBatch look_;
};

/// Copies batches to the device: from the training thread on the compute stream, or, when pinned,
/// non-blocking and prefetch >= 1, on a stream of its own up to `prefetch` batches ahead.
class CopyFeed final : public DeviceFeed {
 public:
  CopyFeed(Executor& loader, Device& device, Stream& compute, StepEvents& steps,
           const CopyOptions& options);
  void begin(std::uint64_t steps) override;
  const DeviceBatch& acquire(std::uint64_t step, const std::stop_token& stop) override;
  void submitted(std::uint64_t step) override;

 private:
  struct Place {
    OwnedDeviceBatch batch;
    std::unique_ptr<Event> copied;
  };

  void copy(const ReadyBatch& ready);
  [[nodiscard]] Event* slot_event(int slot);

  Executor* loader_;
  Device* device_;
  Stream* compute_;
  StepEvents* steps_;
  bool blocking_;
  std::uint64_t ahead_;                  ///< batches that may be copied beyond the current step's
  std::unique_ptr<Stream> copy_stream_;  ///< null: copies go on the compute stream
  std::vector<Place> places_;
  std::vector<std::unique_ptr<Event>> slot_events_;  ///< one a ring slot: its copy is done
  std::uint64_t copied_ = 0;
  std::uint64_t total_ = 0;
};

/// Batches that are on the device already.
class CachedFeed final : public DeviceFeed {
 public:
  /// Begins at batches[first % batches.size()].
  CachedFeed(std::span<const DeviceBatch> batches, std::uint64_t first)
      : batches_(batches), first_(first) {}
  void begin(std::uint64_t steps) override;
  const DeviceBatch& acquire(std::uint64_t step, const std::stop_token& stop) override;
  void submitted(std::uint64_t step) override;

 private:
  std::span<const DeviceBatch> batches_;
  std::uint64_t first_;
};

}  // namespace cachebisect
