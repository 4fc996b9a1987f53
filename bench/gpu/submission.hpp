// What it costs the host to queue work on a device, and whether inline timing meets known work.
#pragma once

#include "cachebisect/device/device.hpp"

namespace cachebisect::bench {

struct SubmissionFigures {
  double record_microseconds = 0;  ///< host time per recorded event
  double launch_microseconds = 0;  ///< host time per queued kernel
  double kernel_microseconds = 0;  ///< end to end per kernel of 64 bytes, queued back to back
};

SubmissionFigures submission_figures(Device& device);

/// Queues `turns` pieces of work of `seconds` each and measures them as inline observation measures
/// device stages. Returns the mean of what was measured, in seconds. Throws what
/// Device::enqueue_work() throws.
double inline_seconds(Device& device, double seconds, int turns);

}  // namespace cachebisect::bench
