// When events of a CUDA device happened, on a clock that the device alone drives.
#pragma once

#include <memory>
#include <mutex>

#include "cachebisect/device/cuda/cuda_handles.hpp"

namespace cachebisect::cuda {

/// CUDA gives the time between two events as a float of milliseconds, whose resolution is coarser
/// than a microsecond after 16 s. So the base event is replaced when it is old, and the time
/// between the old base and the new one is added in double: all times are differences of events.
/// Thread safe; the calling thread must use the device.
class CudaClock {
 public:
  CudaClock(int ordinal, const std::shared_ptr<StreamList>& streams);
  /// Seconds since the clock was made; the event must have happened.
  [[nodiscard]] double seconds(cudaEvent_t event);

 private:
  [[nodiscard]] std::unique_ptr<CudaEvent> mark();

  static constexpr double kOldSeconds = 2;

  std::mutex mutex_;
  int ordinal_;
  CudaStream stream_;
  std::unique_ptr<CudaEvent> base_;
  double base_seconds_ = 0;
};

}  // namespace cachebisect::cuda
