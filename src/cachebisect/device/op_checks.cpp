#include "cachebisect/device/op_checks.hpp"

#include <array>
#include <string>

#include "cachebisect/base/error.hpp"

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

}  // namespace cachebisect::op_checks
