// How the fields of a batch become tensors.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include "cachebisect/data/tensor_view.hpp"

namespace cachebisect::torch_module {

c10::ScalarType scalar_type(DType dtype);

/// A tensor that refers to the batch's own memory, without a copy.
at::Tensor wrap(const TensorView& view, const c10::Device& device);

/// What a step does with images, which are its inputs of four dimensions.
enum class ImageOrder {
  unchanged,
  viewed,     ///< NHWC in memory, seen as NCHW in channels_last order: no copy
  converted,  ///< NCHW in memory, copied to channels_last order in each step
};

/// `input` as the model gets it.
at::Tensor ordered(const at::Tensor& input, ImageOrder order);

}  // namespace cachebisect::torch_module
