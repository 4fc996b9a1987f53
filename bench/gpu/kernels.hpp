// How fast the operations of device stages are, by the device's own events.
#pragma once

#include <string>
#include <vector>

#include "cachebisect/device/device.hpp"

namespace cachebisect::bench {

struct KernelFigure {
  std::string name;
  double microseconds = 0;  ///< median per call
  double gb_per_s = 0;      ///< bytes read and written
};

/// On a batch of `samples` images of 224x224. The first row, "copy", moves float32 unchanged: what
/// the device's memory gives such a kernel. Throws Error(device).
std::vector<KernelFigure> kernel_figures(Device& device, std::int64_t samples, int passes);

}  // namespace cachebisect::bench
