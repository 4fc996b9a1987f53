// The checks of dtypes and shapes that every DeviceOps runs first. All throw Error(internal),
// because a stage that declares its output correctly passes them.
#pragma once

#include <cstddef>
#include <span>

#include "cachebisect/data/tensor_view.hpp"

namespace cachebisect::op_checks {

void cast(const ConstTensorView& from, const TensorView& to);
void affine(const ConstTensorView& from, const TensorView& to, std::span<const float> scale,
            std::span<const float> bias, std::size_t channel_axis);
void one_hot(const ConstTensorView& labels, const TensorView& to);
void unpack_bits(const ConstTensorView& from, const TensorView& to);
void unpack_nonzeros(const ConstTensorView& from, const TensorView& to);
void pad(const ConstTensorView& from, const TensorView& to, std::span<const Shape> shapes);
void transpose(const ConstTensorView& from, const TensorView& to,
               std::span<const std::size_t> axes);
/// `windows` and `changes`: how many there are.
void crop(const ConstTensorView& from, const TensorView& to, std::size_t windows,
          std::size_t channel_axis);
void adjust_color(const ConstTensorView& from, const TensorView& to, std::size_t changes,
                  std::size_t channel_axis);

}  // namespace cachebisect::op_checks
