// bfloat16 of the CUDA toolkit, on the host.
#pragma once

#include <cstdint>

#include "cachebisect/data/half.hpp"

struct __nv_bfloat16 {
  std::uint16_t bits;
};

inline float __bfloat162float(__nv_bfloat16 value) {
  return cachebisect::bfloat16_to_float(value.bits);
}
inline __nv_bfloat16 __float2bfloat16_rn(float value) {
  return {cachebisect::float_to_bfloat16(value)};
}
