// A view of a tensor: pointer, dtype, shape, strides. Owns nothing.
#pragma once

#include <cstddef>
#include <span>

#include "cachebisect/data/dtype.hpp"
#include "cachebisect/data/shape.hpp"

namespace cachebisect {

/// Byte is std::byte (TensorView, may be written) or const std::byte (ConstTensorView).
template <class Byte>
struct BasicTensorView {
  Byte* data = nullptr;
  DType dtype = DType::uint8;
  Shape shape;
  Strides strides{};  ///< in elements

  [[nodiscard]] bool is_dense() const noexcept {
    std::int64_t step = 1;
    for (std::size_t i = shape.rank(); i-- > 0;) {
      if (shape[i] != 1 && strides[i] != step) return false;
      step *= shape[i];
    }
    return true;
  }
  [[nodiscard]] std::size_t byte_size() const noexcept {
    return static_cast<std::size_t>(shape.elements()) * size_of(dtype);
  }
  operator BasicTensorView<const std::byte>() const noexcept  // NOLINT(google-explicit-constructor)
      requires(!std::is_const_v<Byte>) {
    return {data, dtype, shape, strides};
  }
};

using TensorView = BasicTensorView<std::byte>;
using ConstTensorView = BasicTensorView<const std::byte>;

/// A dense view of `data`.
inline TensorView dense_view(std::byte* data, DType dtype, const Shape& shape) {
  return {data, dtype, shape, dense_strides(shape)};
}
inline ConstTensorView dense_view(const std::byte* data, DType dtype, const Shape& shape) {
  return {data, dtype, shape, dense_strides(shape)};
}

/// Copies element by element between views of equal dtype and shape; one memcpy if both are dense.
CACHEBISECT_API void copy_tensor(const ConstTensorView& from, const TensorView& to);

}  // namespace cachebisect
