// Fields of whole numbers, in any type: masks, labels of pixels, counts.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "stages/support/field_stage.hpp"

namespace cachebisect::stages {

/// Throws Error(usage) unless `field` is of a type that with_whole_numbers() takes.
void require_whole_numbers(const FieldSpec& field);

/// Calls `work` with the dense values of `view`, of their type; booleans and int8 are bytes.
template <class Work>
auto with_whole_numbers(const ConstTensorView& view, const Work& work) {
  const auto count = static_cast<std::size_t>(view.shape.elements());
  const auto values = [&]<class T>(T) {
    return std::span<const T>(reinterpret_cast<const T*>(view.data), count);
  };
  switch (view.dtype) {
    case DType::uint16:
      return work(values(std::uint16_t{}));
    case DType::int32:
      return work(values(std::int32_t{}));
    case DType::int64:
      return work(values(std::int64_t{}));
    case DType::float32:
      return work(values(float{}));
    case DType::float64:
      return work(values(double{}));
    default:
      return work(values(std::uint8_t{}));
  }
}

/// As wide as a comparison of such values with the ends of narrow types needs.
template <class Value>
using Wide = std::conditional_t<std::floating_point<Value>, double, std::int64_t>;

/// True if the value lies in To's range. NaN lies in none.
template <std::integral To, class Value>
[[nodiscard]] constexpr bool in_range(Value value) noexcept {
  const auto wide = static_cast<Wide<Value>>(value);
  return wide >= static_cast<Wide<Value>>(std::numeric_limits<To>::lowest()) &&
         wide <= static_cast<Wide<Value>>(std::numeric_limits<To>::max());
}

/// True if To holds exactly this value.
template <std::integral To, class Value>
[[nodiscard]] constexpr bool holds(Value value) noexcept {
  return in_range<To>(value) && static_cast<Value>(static_cast<To>(value)) == value;
}

}  // namespace cachebisect::stages
