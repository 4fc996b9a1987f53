// Element types, with PyTorch's names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

enum class DType : std::uint8_t {
  uint8,
  int8,
  uint16,
  int32,
  int64,
  float16,
  bfloat16,
  float32,
  float64,
  boolean
};

/// Bytes of one element.
CACHEBISECT_API std::size_t size_of(DType dtype) noexcept;
/// "uint8", "float32", ...
CACHEBISECT_API std::string_view to_string(DType dtype) noexcept;

/// The DType of a C++ type.
template <class T>
struct DTypeOf;
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::uint8;
};
template <>
struct DTypeOf<std::int8_t> {
  static constexpr DType value = DType::int8;
};
template <>
struct DTypeOf<std::uint16_t> {
  static constexpr DType value = DType::uint16;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::int32;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::int64;
};
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::float32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::float64;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::boolean;
};
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

}  // namespace cachebisect
