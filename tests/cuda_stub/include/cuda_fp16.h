// float16 of the CUDA toolkit, on the host.
#pragma once

#include <cstdint>

#include "cachebisect/data/half.hpp"

struct __half {
  std::uint16_t bits;
};

inline float __half2float(__half value) { return cachebisect::half_to_float(value.bits); }
inline __half __float2half_rn(float value) { return {cachebisect::float_to_half(value)}; }
