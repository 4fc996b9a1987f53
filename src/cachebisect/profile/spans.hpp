// What the training thread and an emulated device did in the profiled steps, and when.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cachebisect::profile {

enum class LoopWork : std::uint8_t {
  load,         ///< asks for a batch and waits for it, or loads it itself
  copy,         ///< queues the copy, or waits until a blocking one is done
  step,         ///< the call of the step
  forward,      ///< the parts within it
  backward,     //
  optimizer,    //
  device_wait,  ///< until the device has room for a further step
  iteration     ///< from the end of one step to the end of the next
};
inline constexpr std::size_t kLoopWorks = 8;

/// Seconds of the monotonic clock.
struct LoopSpan {
  double begin = 0;
  double end = 0;
  std::uint64_t batch = 0;  ///< in the block; of device_wait: the step before it
  LoopWork work = LoopWork::load;
  bool starved = false;  ///< true only for a load: the batch was not ready
};

/// A copy or a step on the timeline of an emulated device.
struct DeviceSpan {
  double begin = 0;
  double end = 0;
  std::uint64_t batch = 0;
  bool is_copy = false;
};

}  // namespace cachebisect::profile
