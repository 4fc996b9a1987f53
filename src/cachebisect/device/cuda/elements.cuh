// Element types and their conversion in kernels, by the same rules as on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "cachebisect/data/dtype.hpp"
#include "cachebisect/device/cuda/launch.cuh"

namespace cachebisect::cuda::kernels {

template <class T>
__device__ auto widen(T value) {
  if constexpr (std::is_same_v<T, __half>) {
    return __half2float(value);
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return __bfloat162float(value);
  } else {
    return value;
  }
}

// Computed at compile time, when host functions may be called.
template <class T>
constexpr T kLowest = std::numeric_limits<T>::min();
template <class T>
constexpr T kHighest = std::numeric_limits<T>::max();

/// Truncates towards zero; NaN gives 0.
template <class To, class From>
__device__ To saturate(From value) {
  constexpr To kMin = kLowest<To>;
  constexpr To kMax = kHighest<To>;
  if (!(value == value)) return To(0);
  if (value <= static_cast<From>(kMin)) return kMin;
  if (value >= static_cast<From>(kMax)) return kMax;
  return static_cast<To>(value);
}

template <class To, class From>
__device__ To convert(From from) {
  const auto value = widen(from);
  using Wide = std::remove_const_t<decltype(value)>;
  if constexpr (std::is_same_v<To, __half>) {
    return __float2half_rn(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, __nv_bfloat16>) {
    return __float2bfloat16_rn(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != Wide(0);
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<Wide>) {
    return saturate<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

template <class T>
struct Type {
  using type = T;
};

/// Returns body(Type<T>{}) for the element type of `dtype`.
template <class Body>
cudaError_t with_type(DType dtype, const Body& body) {
  switch (dtype) {
    case DType::uint8:
      return body(Type<std::uint8_t>{});
    case DType::int8:
      return body(Type<std::int8_t>{});
    case DType::uint16:
      return body(Type<std::uint16_t>{});
    case DType::int32:
      return body(Type<std::int32_t>{});
    case DType::int64:
      return body(Type<std::int64_t>{});
    case DType::float16:
      return body(Type<__half>{});
    case DType::bfloat16:
      return body(Type<__nv_bfloat16>{});
    case DType::float32:
      return body(Type<float>{});
    case DType::float64:
      return body(Type<double>{});
    case DType::boolean:
      return body(Type<bool>{});
  }
  return cudaErrorInvalidValue;
}

/// The same for the outputs of affine and one_hot.
template <class Body>
cudaError_t with_float_type(DType dtype, const Body& body) {
  if (dtype == DType::float16) return body(Type<__half>{});
  if (dtype == DType::bfloat16) return body(Type<__nv_bfloat16>{});
  return body(Type<float>{});
}

/// The same for values that are only moved: the unsigned type of so many bytes.
template <class Body>
cudaError_t with_bits(std::size_t element_bytes, const Body& body) {
  switch (element_bytes) {
    case 1:
      return body(Type<std::uint8_t>{});
    case 2:
      return body(Type<std::uint16_t>{});
    case 4:
      return body(Type<std::uint32_t>{});
    case 8:
      return body(Type<std::uint64_t>{});
    default:
      return cudaErrorInvalidValue;
  }
}

/// The same for indices below `count`: 32 bits wide if that is enough, as divisions are then
/// several times faster.
template <class Body>
cudaError_t with_index(std::int64_t count, const Body& body) {
  if (count <= std::numeric_limits<std::int32_t>::max()) return body(Type<std::uint32_t>{});
  return body(Type<std::uint64_t>{});
}

}  // namespace cachebisect::cuda::kernels
