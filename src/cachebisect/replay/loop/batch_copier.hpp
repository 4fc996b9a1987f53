// Copies the loader's batches into device buffers, as the pipeline's copy options say.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cachebisect/data/batch.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/executor/executor.hpp"
#include "cachebisect/pipeline/stage.hpp"
#include "cachebisect/replay/loop/device_timer.hpp"
#include "cachebisect/replay/loop/loop_observer.hpp"

namespace cachebisect {

/// On the compute stream or, if pinned, non-blocking and prefetch >= 1, on a separate stream up to
/// `prefetch` batches ahead. A non-blocking copy of pageable memory is what CUDA makes of it: the
/// training thread copies into a buffer of the driver. The emulated device has no such buffer;
/// there the thread waits for the copy. Used only by the training thread.
class BatchCopier {
 public:
  /// Keeps references to all but the stage and the options. `places`: device buffers; their fields
  /// of static shape in the output of `copy` get their memory now. `spin`: waits for blocking
  /// copies keep the core busy.
  BatchCopier(Executor& loader, Device& device, Stream& compute, std::size_t places,
              const ChainStage& copy, const CopyOptions& options, bool spin);

  /// The copies that follow are of batches of this loader. Allocates if it has more slots than
  /// those before.
  void use(Executor& loader);
  void begin(const BlockSteps& steps);
  /// Batches that may be copied ahead of the current step; 0 without a separate stream.
  [[nodiscard]] std::uint64_t ahead() const noexcept { return ahead_; }
  [[nodiscard]] std::size_t places() const noexcept { return places_.size(); }
  /// Copies into buffer `number` % places() after `free_after` (may be null), and gives the slot
  /// back to the loader.
  void copy(const ReadyBatch& ready, std::uint64_t number, const Event* free_after);
  /// True if that copy is done.
  [[nodiscard]] bool copied(std::uint64_t number);
  /// Waits until that copy is done.
  void await(std::uint64_t number) { device_->synchronize(*place(number).copied); }
  /// The batch, ready for work that is queued on the compute stream from now on.
  const DeviceBatch& batch(std::uint64_t number);
  /// Seconds since begin() that copies held the calling thread.
  [[nodiscard]] double waited_seconds() const noexcept { return waited_seconds_; }
  /// Time of the copies; call when the device has done the block's steps.
  [[nodiscard]] DeviceTime time() { return timer_.total(); }

 private:
  struct Place {
    OwnedDeviceBatch batch;
    std::unique_ptr<Event> copied;
  };

  [[nodiscard]] Place& place(std::uint64_t number) { return places_[number % places_.size()]; }
  [[nodiscard]] Event* slot_event(int slot);

  Executor* loader_;
  Device* device_;
  Stream* compute_;
  bool holds_host_;  ///< the training thread, for about as long as a copy takes
  bool blocking_;    ///< it waits until the copy is done
  std::uint64_t ahead_;
  std::unique_ptr<Stream> copy_stream_;  ///< null: copies go on the compute stream
  std::vector<Place> places_;
  std::vector<std::unique_ptr<Event>> slot_events_;  ///< by ring slot: its copy is done
  DeviceTimer timer_;
  LoopObserver* observer_ = nullptr;  ///< of this block
  double waited_seconds_ = 0;
};

}  // namespace cachebisect
