// The way of a batch from the host to the training step: the copy, then the device stages.
#pragma once

#include <cstddef>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/data/batch.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/replay/loop/device_timer.hpp"

namespace cachebisect {

/// Enqueues the copy of every field of `from` into `to`. With `blocking`, returns when it is done.
/// On the emulated device `to` has shapes, and its bytes must not be accessed.
CACHEBISECT_INTERNAL_API void copy_batch(const HostBatch& from, OwnedDeviceBatch& to,
                                         Device& device, Stream& stream, bool blocking);

/// The device stages of a chain, with one output buffer each. Reusing the buffers is safe because
/// all work on them is queued on one stream. One thread at a time.
class CACHEBISECT_INTERNAL_API DeviceChain {
 public:
  /// Keeps references to both, which must outlive it. `runs`: maximum in flight on the device.
  DeviceChain(const Pipeline& pipeline, Device& device, std::size_t runs);

  /// Begins a block; each stage is timed if `observed`.
  void begin(bool observed);
  /// Enqueues the stages after boundary `from` up to boundary `to` (`from` is after the copy) and
  /// returns the last one's output, or `input` itself if there are none. Valid until that stage
  /// runs again.
  const DeviceBatch& run(const DeviceBatch& input, std::size_t from, std::size_t to,
                         Stream& stream);
  /// Time of each stage since begin(); the device must have done all work.
  [[nodiscard]] std::vector<DeviceTime> times();

 private:
  struct Link {
    const ChainStage* stage;
    OwnedDeviceBatch output;
    DeviceTimer timer;
  };

  Device* device_;
  std::uint64_t seed_;
  std::size_t first_boundary_;  ///< after the copy
  std::vector<Link> links_;
};

/// Runs one device stage of a pipeline with this seed; its errors carry the stage's name.
CACHEBISECT_INTERNAL_API void run_device_stage(const ChainStage& stage, std::uint64_t seed,
                                               const DeviceBatch& input, OwnedDeviceBatch& out,
                                               Device& device, Stream& stream);

}  // namespace cachebisect
