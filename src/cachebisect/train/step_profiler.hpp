// What the library that computes a step did in it: its operators, kernels and memory.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

struct StepProfilerOptions {
  bool shapes = false;  ///< of each operator's inputs
  bool memory = false;  ///< each allocation, and the peak
};

/// Called only from the training thread, in the order of these functions; then again from the
/// first. Destroying it ends what was begun. All throw Error if the library fails.
class CACHEBISECT_API StepProfiler {
 public:
  virtual ~StepProfiler();
  /// Warms up, some steps before start(): the first steps after it are slower.
  virtual void prepare() = 0;
  virtual void start() = 0;
  /// Ends the recording, once the device has done all steps. Returns a Chrome trace: a JSON object
  /// with traceEvents, in microseconds of the system clock from baseTimeNanoseconds on.
  virtual std::string stop() = 0;
};

}  // namespace cachebisect
