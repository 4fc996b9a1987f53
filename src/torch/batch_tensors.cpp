#include "batch_tensors.hpp"

#include <ATen/ops/from_blob.h>

namespace cachebisect::torch_module {

c10::ScalarType scalar_type(DType dtype) {
  switch (dtype) {
    case DType::uint8:
      return c10::kByte;
    case DType::int8:
      return c10::kChar;
    case DType::uint16:
      return c10::kUInt16;
    case DType::int32:
      return c10::kInt;
    case DType::int64:
      return c10::kLong;
    case DType::float16:
      return c10::kHalf;
    case DType::bfloat16:
      return c10::kBFloat16;
    case DType::float32:
      return c10::kFloat;
    case DType::float64:
      return c10::kDouble;
    case DType::boolean:
      break;
  }
  return c10::kBool;
}

at::Tensor wrap(const TensorView& view, const c10::Device& device) {
  const std::size_t rank = view.shape.rank();
  return at::from_blob(view.data, {view.shape.dims().data(), rank}, {view.strides.data(), rank},
                       at::TensorOptions().dtype(scalar_type(view.dtype)).device(device));
}

at::Tensor ordered(const at::Tensor& input, ImageOrder order) {
  if (input.dim() != 4 || order == ImageOrder::unchanged) return input;
  if (order == ImageOrder::viewed) return input.permute({0, 3, 1, 2});
  return input.contiguous(at::MemoryFormat::ChannelsLast);
}

}  // namespace cachebisect::torch_module
