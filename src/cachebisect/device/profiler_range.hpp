// Named ranges for profilers that listen to NVTX, such as Nsight Systems.
#pragma once

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// A range of the calling thread, from construction to destruction; ranges nest. Takes a few
/// nanoseconds if no profiler is attached, and does nothing in a build without a CUDA toolkit.
/// Thread safe.
class CACHEBISECT_INTERNAL_API ProfilerRange {
 public:
  /// `name` is copied by the profiler.
  explicit ProfilerRange(const char* name) noexcept;
  ~ProfilerRange();  // NOLINT(performance-trivially-destructible): ends the range, with NVTX
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;
};

}  // namespace cachebisect
