// Element types on the host: dispatch by dtype and conversion between them.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "cachebisect/data/half.hpp"
#include "cachebisect/data/tensor_view.hpp"

namespace cachebisect::host_elements {

struct Half {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};

/// Calls `body` with std::type_identity of the element type.
template <class Body>
void with_type(DType dtype, const Body& body) {
  switch (dtype) {
    case DType::uint8:
      return body(std::type_identity<std::uint8_t>{});
    case DType::int8:
      return body(std::type_identity<std::int8_t>{});
    case DType::uint16:
      return body(std::type_identity<std::uint16_t>{});
    case DType::int32:
      return body(std::type_identity<std::int32_t>{});
    case DType::int64:
      return body(std::type_identity<std::int64_t>{});
    case DType::float16:
      return body(std::type_identity<Half>{});
    case DType::bfloat16:
      return body(std::type_identity<BFloat16>{});
    case DType::float32:
      return body(std::type_identity<float>{});
    case DType::float64:
      return body(std::type_identity<double>{});
    case DType::boolean:
      return body(std::type_identity<bool>{});
  }
}

template <class T>
const T* elements(const ConstTensorView& view) {
  return reinterpret_cast<const T*>(view.data);
}
template <class T>
T* elements(const TensorView& view) {
  return reinterpret_cast<T*>(view.data);
}

template <class From>
auto widen(From value) {
  if constexpr (std::same_as<From, Half>) {
    return half_to_float(value.bits);
  } else if constexpr (std::same_as<From, BFloat16>) {
    return bfloat16_to_float(value.bits);
  } else {
    return value;
  }
}

/// Truncates towards zero; NaN gives 0.
template <std::integral To, std::floating_point From>
To saturate(From value) {
  constexpr auto kLow = static_cast<From>(std::numeric_limits<To>::min());
  // The largest To may round up to the power of two above it, which is out of range already.
  constexpr auto kHigh = static_cast<From>(std::numeric_limits<To>::max());
  if (!(value == value)) return 0;
  if (value <= kLow) return std::numeric_limits<To>::min();
  if (value >= kHigh) return std::numeric_limits<To>::max();
  return static_cast<To>(value);
}

template <class To, class From>
To convert(From from) {
  const auto value = widen(from);
  if constexpr (std::same_as<To, Half>) {
    return {float_to_half(static_cast<float>(value))};
  } else if constexpr (std::same_as<To, BFloat16>) {
    return {float_to_bfloat16(static_cast<float>(value))};
  } else if constexpr (std::same_as<To, bool>) {
    return value != decltype(value){};
  } else if constexpr (std::integral<To> && std::floating_point<decltype(value)>) {
    return saturate<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

template <class From, class To>
void convert_all(const From* from, To* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = convert<To>(from[i]);
}
inline void convert_all(const float* from, Half* to, std::size_t count) {
  static_assert(sizeof(Half) == sizeof(std::uint16_t));
  floats_to_half({from, count}, {&to->bits, count});
}
inline void convert_all(const float* from, BFloat16* to, std::size_t count) {
  floats_to_bfloat16({from, count}, {&to->bits, count});
}

/// Calls `body` for an output of float16, bfloat16 or float32.
template <class Body>
void with_float_type(DType dtype, const Body& body) {
  if (dtype == DType::float16) return body(std::type_identity<Half>{});
  if (dtype == DType::bfloat16) return body(std::type_identity<BFloat16>{});
  return body(std::type_identity<float>{});
}

}  // namespace cachebisect::host_elements
