// Denormal numbers become zero for the length of a scope, so that work costs the same whatever
// numbers it meets.
#pragma once

#include <cstdint>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// Sets the calling thread's floating-point unit and restores it. Threads that are started within
/// the scope inherit the setting on Linux. Nothing where the processor is neither x86-64 nor
/// AArch64.
class CACHEBISECT_API FlushDenormals {
 public:
  FlushDenormals() noexcept;
  ~FlushDenormals();
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  std::uint64_t before_;
};

}  // namespace cachebisect
