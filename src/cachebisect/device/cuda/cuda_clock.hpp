// When events of a CUDA device happened, on the host's monotonic clock.
#pragma once

#include <memory>
#include <mutex>

#include "cachebisect/device/cuda/cuda_handles.hpp"

namespace cachebisect::cuda {

/// CUDA gives the time between two events as a float of milliseconds, whose resolution is coarser
/// than a microsecond after 16 s. So the base event is replaced when it is old, and the time
/// between the old base and the new one is added in double. The offset to the host's clock is
/// measured once (to about 20 us), so that differences never jump. Thread safe; used under a
/// DeviceGuard.
class CudaClock {
 public:
  CudaClock();
  /// Seconds on the monotonic clock; the event must have happened.
  [[nodiscard]] double seconds(cudaEvent_t event);

 private:
  [[nodiscard]] std::unique_ptr<CudaEvent> mark();

  static constexpr double kOldSeconds = 2;

  std::mutex mutex_;
  CudaStream stream_;
  std::unique_ptr<CudaEvent> base_;
  double base_seconds_ = 0;
};

}  // namespace cachebisect::cuda
