#include "cachebisect/data/shape.hpp"

#include <algorithm>

#include "cachebisect/base/error.hpp"

namespace cachebisect {

Shape::Shape(std::initializer_list<std::int64_t> dims)
    : Shape(std::span<const std::int64_t>(dims.begin(), dims.size())) {}

Shape::Shape(std::span<const std::int64_t> dims) : rank_(dims.size()) {
  if (dims.size() > kMaxRank) {
    throw Error(ErrorKind::usage, "a shape of " + std::to_string(dims.size()) +
                                      " dimensions; at most " + std::to_string(kMaxRank) +
                                      " are supported");
  }
  std::copy(dims.begin(), dims.end(), dims_.begin());
}

bool Shape::is_static() const noexcept {
  const auto all = dims();
  return std::find(all.begin(), all.end(), kDynamic) == all.end();
}

std::int64_t Shape::elements() const noexcept {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims()) {
    if (dim == kDynamic) return kDynamic;
    count *= dim;
  }
  return count;
}

Shape Shape::with_leading(std::int64_t dim) const {
  std::array<std::int64_t, kMaxRank + 1> all{};
  all[0] = dim;
  std::copy_n(dims_.begin(), rank_, all.begin() + 1);
  return Shape(std::span<const std::int64_t>(all.data(), rank_ + 1));
}

std::string Shape::to_string() const {
  std::string text = "[";
  for (std::size_t i = 0; i < rank_; ++i) {
    if (i > 0) text += ", ";
    text += dims_[i] == kDynamic ? "?" : std::to_string(dims_[i]);
  }
  return text + "]";
}

Strides dense_strides(const Shape& shape) noexcept {
  Strides strides{};
  std::int64_t step = 1;
  for (std::size_t i = shape.rank(); i-- > 0;) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

}  // namespace cachebisect
