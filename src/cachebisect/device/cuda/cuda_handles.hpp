// Streams and events of the CUDA runtime, owned.
#pragma once

#include <cuda_runtime_api.h>

#include "cachebisect/device/device.hpp"

namespace cachebisect::cuda {

/// Waiting for it blocks the thread in the kernel instead of spinning; it keeps its time. Made
/// under a DeviceGuard.
class CudaEvent final : public Event {
 public:
  CudaEvent();
  ~CudaEvent() override;
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  [[nodiscard]] cudaEvent_t get() const noexcept { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Does not synchronise with the legacy default stream. Made under a DeviceGuard.
class CudaStream final : public Stream {
 public:
  CudaStream();
  ~CudaStream() override;
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  [[nodiscard]] void* native() const noexcept override { return stream_; }
  [[nodiscard]] cudaStream_t get() const noexcept { return stream_; }
  /// Blocks, without spinning, until all that is queued is done.
  void drain();

 private:
  CudaEvent tail_;
  cudaStream_t stream_ = nullptr;
};

/// The handles of what this device made.
[[nodiscard]] cudaStream_t stream_of(Stream& stream);
[[nodiscard]] cudaEvent_t event_of(const Event& event);

}  // namespace cachebisect::cuda
