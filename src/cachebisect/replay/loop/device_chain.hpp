// What happens to a batch between the host and the training step: the copy, then the device stages.
#pragma once

#include <cstddef>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/data/batch.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/replay/loop/device_timer.hpp"

namespace cachebisect {

/// Enqueues the copy of every field of `from` into `to`, in memory of `to`'s device. With
/// `blocking` returns when it is done. On the emulated device `to` has shapes, and nobody may touch
/// its bytes.
CACHEBISECT_API void copy_batch(const HostBatch& from, OwnedDeviceBatch& to, Device& device,
                                Stream& stream, bool blocking);

/// The device stages of a chain with one output buffer each. Reusing that buffer is safe because
/// all work on it is queued on one stream. One thread at a time.
class CACHEBISECT_API DeviceChain {
 public:
  /// Keeps references to both, which must outlive it.
  /// At most `runs` runs are in flight on the device.
  DeviceChain(const Pipeline& pipeline, Device& device, std::size_t runs);

  /// Begins a block; what each stage takes is measured when `observed`.
  void begin(bool observed);
  /// Enqueues the stages after boundary `from` up to boundary `to` (from >= that after the copy)
  /// and returns the last one's output: `input` itself when there are none. Valid until that stage
  /// runs again.
  const DeviceBatch& run(const DeviceBatch& input, std::size_t from, std::size_t to,
                         Stream& stream);
  /// What each stage took since begin(), which the device must have done.
  [[nodiscard]] std::vector<DeviceTime> times();

 private:
  struct Link {
    const DeviceStage* stage;
    std::string_view name;
    OwnedDeviceBatch output;
    DeviceTimer timer;
  };

  Device* device_;
  std::size_t first_boundary_;  ///< after the copy
  std::vector<Link> links_;
};

/// One device stage, its errors named.
CACHEBISECT_API void run_device_stage(const DeviceStage& stage, std::string_view name,
                                      const DeviceBatch& input, OwnedDeviceBatch& out,
                                      Device& device, Stream& stream);

}  // namespace cachebisect
