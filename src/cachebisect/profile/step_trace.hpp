// What LibTorch's trace says: operators of the host, work of the GPU, memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect::profile {

/// Nanoseconds of the system clock.
struct TracedCall {
  std::string name;
  std::int64_t thread = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool is_copy = false;  ///< on the device, from or to the host
};

struct StepTrace {
  std::vector<TracedCall> operators;    ///< by thread, then by beginning; outer ones first
  std::vector<TracedCall> device_work;  ///< kernels, copies and fills of a GPU
  /// The most bytes that LibTorch held, by device ("CPU", "GPU 0"); empty unless memory was
  /// recorded.
  std::map<std::string, double> peak_bytes;
};

/// Throws Error(data) if the text is not such a trace.
[[nodiscard]] CACHEBISECT_INTERNAL_API StepTrace read_step_trace(const std::string& json);

}  // namespace cachebisect::profile
