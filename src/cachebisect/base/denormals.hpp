// Flushes denormal numbers to zero within a scope, so that the cost of work does not depend on its
// numbers.
#pragma once

#include <cstdint>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// Sets the mode of the calling thread's floating-point unit and restores it. On Linux, threads
/// started within the scope inherit the mode. Does nothing unless the processor is x86-64 or
/// AArch64.
class CACHEBISECT_INTERNAL_API FlushDenormals {
 public:
  FlushDenormals() noexcept;
  ~FlushDenormals();
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  std::uint64_t before_;
};

}  // namespace cachebisect
