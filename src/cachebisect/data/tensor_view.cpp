#include "cachebisect/data/tensor_view.hpp"

#include <array>
#include <cstring>

#include "cachebisect/base/error.hpp"

namespace cachebisect {
namespace {

template <class T>
void copy_strided(const ConstTensorView& from, const TensorView& to) {
  const auto* source = reinterpret_cast<const T*>(from.data);
  auto* target = reinterpret_cast<T*>(to.data);
  const std::size_t rank = from.shape.rank();
  if (from.shape.elements() == 0) return;
  std::array<std::int64_t, Shape::kMaxRank> at{};
  const std::size_t last = rank - 1;
  for (;;) {
    std::int64_t s = 0;
    std::int64_t t = 0;
    for (std::size_t i = 0; i < last; ++i) {
      s += at[i] * from.strides[i];
      t += at[i] * to.strides[i];
    }
    for (std::int64_t i = 0; i < from.shape[last]; ++i) {
      target[t + i * to.strides[last]] = source[s + i * from.strides[last]];
    }
    std::size_t axis = last;
    while (axis > 0 && ++at[axis - 1] == from.shape[axis - 1]) at[--axis] = 0;
    if (axis == 0) return;
  }
}

}  // namespace

void copy_tensor(const ConstTensorView& from, const TensorView& to) {
  if (from.dtype != to.dtype || !(from.shape == to.shape)) {
    throw Error(ErrorKind::internal, "copy between tensors that differ: " + from.shape.to_string() +
                                         " to " + to.shape.to_string());
  }
  if (from.is_dense() && to.is_dense()) {
    if (from.byte_size() > 0) std::memcpy(to.data, from.data, from.byte_size());
    return;
  }
  switch (size_of(from.dtype)) {
    case 1:
      return copy_strided<std::uint8_t>(from, to);
    case 2:
      return copy_strided<std::uint16_t>(from, to);
    case 4:
      return copy_strided<std::uint32_t>(from, to);
    default:
      return copy_strided<std::uint64_t>(from, to);
  }
}

}  // namespace cachebisect
