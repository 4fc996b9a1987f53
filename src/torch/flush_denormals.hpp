// Denormal numbers become zero for the length of a scope, so that a step costs the same however
// long it trains on few cached batches.
#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace cachebisect::torch_module {

/// The setting belongs to the calling thread; threads that LibTorch starts within the scope inherit
/// it. Nothing where the processor is not x86-64.
class FlushDenormalsScope {
 public:
#if defined(__SSE2__)
  FlushDenormalsScope() noexcept : old_(_mm_getcsr()) { _mm_setcsr(old_ | kFlushAndZero); }
  ~FlushDenormalsScope() { _mm_setcsr(old_); }
#else
  FlushDenormalsScope() noexcept = default;
  ~FlushDenormalsScope() {}
#endif
  FlushDenormalsScope(const FlushDenormalsScope&) = delete;
  FlushDenormalsScope& operator=(const FlushDenormalsScope&) = delete;

 private:
#if defined(__SSE2__)
  static constexpr unsigned kFlushAndZero = 0x8040;  // FTZ and DAZ of MXCSR
  unsigned old_;
#endif
};

}  // namespace cachebisect::torch_module
