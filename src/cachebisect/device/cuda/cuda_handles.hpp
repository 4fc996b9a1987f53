// Owning handles of CUDA streams and events.
#pragma once

#include <cuda_runtime_api.h>

#include "cachebisect/device/device.hpp"

namespace cachebisect::cuda {

/// A timed event; waiting for it blocks the thread instead of spinning. Made under a DeviceGuard.
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
  /// Blocks, without spinning, until all queued work is done.
  void drain();

 private:
  CudaEvent tail_;
  cudaStream_t stream_ = nullptr;
};

/// The CUDA handles of a Stream and an Event that this device made.
[[nodiscard]] cudaStream_t stream_of(Stream& stream);
[[nodiscard]] cudaEvent_t event_of(const Event& event);

}  // namespace cachebisect::cuda
