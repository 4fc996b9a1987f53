#include "cachebisect/device/op_checks.hpp"

#include <array>
#include <string>

#include "cachebisect/base/error.hpp"
#include "cachebisect/data/image_changes.hpp"

namespace cachebisect::op_checks {
namespace {

std::string describe(const ConstTensorView& view) {
  return std::string(to_string(view.dtype)) + " " + view.shape.to_string();
}

void require(bool holds, const char* operation, const ConstTensorView& from,
             const ConstTensorView& to, const std::string& rule) {
  if (holds) return;
  throw Error(ErrorKind::internal, std::string("device operation ") + operation + " from " +
                                       describe(from) + " to " + describe(to) + ": " + rule);
}

void require_dense(const char* operation, const ConstTensorView& from, const ConstTensorView& to) {
  require(from.is_dense() && to.is_dense(), operation, from, to, "both must be dense");
}

void require_images(const char* operation, const ConstTensorView& from, const TensorView& to,
                    std::size_t values, std::size_t channel_axis) {
  require_dense(operation, from, to);
  require(from.dtype == to.dtype && from.shape.rank() == 4 && to.shape.rank() == 4, operation, from,
          to, "both must be four axes of one dtype");
  require(channel_axis == 1 || channel_axis == 3, operation, from, to,
          "channels lie along axis 1 or 3, not " + std::to_string(channel_axis));
  require(from.shape[0] == to.shape[0] && from.shape[channel_axis] == to.shape[channel_axis],
          operation, from, to, "there must be as many images and channels");
  require(values == static_cast<std::size_t>(from.shape[0]) && values <= kMaxImagesAtOnce,
          operation, from, to,
          std::to_string(values) + " values are not one per image, or too many");
}

bool is_integer(DType dtype) {
  return dtype == DType::uint8 || dtype == DType::int8 || dtype == DType::uint16 ||
         dtype == DType::int32 || dtype == DType::int64;
}

}  // namespace

void cast(const ConstTensorView& from, const TensorView& to) {
  require_dense("cast", from, to);
  require(from.shape == to.shape, "cast", from, to, "shapes must be equal");
}

void affine(const ConstTensorView& from, const TensorView& to, std::span<const float> scale,
            std::span<const float> bias, std::size_t channel_axis) {
  require_dense("affine", from, to);
  require(from.shape == to.shape, "affine", from, to, "shapes must be equal");
  require(to.dtype == DType::float32 || to.dtype == DType::float16 || to.dtype == DType::bfloat16,
          "affine", from, to, "the output must be float32, float16 or bfloat16");
  require(channel_axis < from.shape.rank(), "affine", from, to,
          "there is no axis " + std::to_string(channel_axis));
  const auto channels = static_cast<std::size_t>(from.shape[channel_axis]);
  for (const std::span<const float> values : {scale, bias}) {
    require(values.size() == 1 || values.size() == channels, "affine", from, to,
            "scale and bias need 1 or " + std::to_string(channels) + " values, one has " +
                std::to_string(values.size()));
  }
}

void one_hot(const ConstTensorView& labels, const TensorView& to) {
  require_dense("one_hot", labels, to);
  require(is_integer(labels.dtype), "one_hot", labels, to, "labels must be integers");
  require(labels.shape.rank() == 1 && to.shape.rank() == 2 && labels.shape[0] == to.shape[0],
          "one_hot", labels, to, "labels must be [N] and the output [N, classes]");
  require(to.dtype == DType::float32 || to.dtype == DType::float16 || to.dtype == DType::bfloat16,
          "one_hot", labels, to, "the output must be float32, float16 or bfloat16");
}

void unpack_bits(const ConstTensorView& from, const TensorView& to) {
  require_dense("unpack_bits", from, to);
  require(from.dtype == DType::uint8 && to.dtype == DType::uint8, "unpack_bits", from, to,
          "both must be uint8");
  require(from.shape.rank() == 2 && to.shape.rank() == 2 && from.shape[0] == to.shape[0] &&
              to.shape[1] == 8 * from.shape[1],
          "unpack_bits", from, to, "[N, B] becomes [N, 8 B]");
}

void unpack_nonzeros(const ConstTensorView& from, const TensorView& to) {
  require_dense("unpack_nonzeros", from, to);
  const auto entry = static_cast<std::int64_t>(sizeof(std::int32_t) + size_of(to.dtype));
  require(from.dtype == DType::uint8 && from.shape.rank() == 2 && to.shape.rank() > 0 &&
              from.shape[0] == to.shape[0] && from.shape[1] % entry == 0,
          "unpack_nonzeros", from, to,
          "the input must be uint8 [N, M (4 + bytes of an element)], the output [N, ...]");
}

void pad(const ConstTensorView& from, const TensorView& to, std::span<const Shape> shapes) {
  require_dense("pad", from, to);
  require(from.dtype == to.dtype && to.shape.rank() > 0 &&
              shapes.size() == static_cast<std::size_t>(to.shape[0]),
          "pad", from, to, "dtypes must be equal, and there must be a shape for each sample");
  std::int64_t values = 0;
  for (const Shape& shape : shapes) {
    bool fits = shape.rank() + 1 == to.shape.rank();
    for (std::size_t axis = 0; fits && axis < shape.rank(); ++axis)
      fits = shape[axis] >= 0 && shape[axis] <= to.shape[axis + 1];
    require(fits, "pad", from, to, "a sample of " + shape.to_string() + " has no room");
    values += shape.elements();
  }
  require(values <= from.shape.elements(), "pad", from, to,
          "the samples have " + std::to_string(values) + " values");
}

void transpose(const ConstTensorView& from, const TensorView& to,
               std::span<const std::size_t> axes) {
  require_dense("transpose", from, to);
  const std::size_t rank = from.shape.rank();
  require(from.dtype == to.dtype && to.shape.rank() == rank && axes.size() == rank, "transpose",
          from, to, "dtype, rank and the number of axes must be equal");
  std::array<bool, Shape::kMaxRank> seen{};
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t axis = axes[i];
    require(axis < rank && !seen[axis], "transpose", from, to, "axes must be a permutation");
    seen[axis] = true;
    require(to.shape[i] == from.shape[axis], "transpose", from, to,
            "axis " + std::to_string(i) + " of the output must have the size of axis " +
                std::to_string(axis));
  }
}

void crop(const ConstTensorView& from, const TensorView& to, std::size_t windows,
          std::size_t channel_axis) {
  require_images("crop", from, to, windows, channel_axis);
}

void adjust_color(const ConstTensorView& from, const TensorView& to, std::size_t changes,
                  std::size_t channel_axis) {
  require_images("adjust_color", from, to, changes, channel_axis);
  const std::int64_t channels = from.shape[channel_axis];
  require(from.shape == to.shape && from.dtype == DType::uint8 && (channels == 1 || channels == 3),
          "adjust_color", from, to, "both must be uint8 of one shape with 1 or 3 channels");
}

}  // namespace cachebisect::op_checks
