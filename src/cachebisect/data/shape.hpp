// Shapes and strides of up to six dimensions, held inline: copying one allocates nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// A dimension whose size is known only once a sample is read; printed as `?`.
inline constexpr std::int64_t kDynamic = -1;

class CACHEBISECT_API Shape {
 public:
  static constexpr std::size_t kMaxRank = 6;

  Shape() = default;
  /// Throws Error(usage) if there are more than kMaxRank dimensions.
  Shape(std::initializer_list<std::int64_t> dims);
  explicit Shape(std::span<const std::int64_t> dims);

  [[nodiscard]] std::size_t rank() const noexcept { return rank_; }
  [[nodiscard]] std::int64_t operator[](std::size_t axis) const noexcept { return dims_[axis]; }
  [[nodiscard]] std::int64_t& operator[](std::size_t axis) noexcept { return dims_[axis]; }
  [[nodiscard]] std::span<const std::int64_t> dims() const noexcept {
    return {dims_.data(), rank_};
  }
  /// True if no dimension is kDynamic.
  [[nodiscard]] bool is_static() const noexcept;
  /// Number of elements (1 for a scalar); kDynamic if a dimension is.
  [[nodiscard]] std::int64_t elements() const noexcept;
  /// The same shape with `dim` before the first axis.
  [[nodiscard]] Shape with_leading(std::int64_t dim) const;
  /// "[3, 224, ?]"
  [[nodiscard]] std::string to_string() const;

  friend bool operator==(const Shape& a, const Shape& b) noexcept {
    if (a.rank_ != b.rank_) return false;
    for (std::size_t i = 0; i < a.rank_; ++i) {
      if (a.dims_[i] != b.dims_[i]) return false;
    }
    return true;
  }

 private:
  std::array<std::int64_t, kMaxRank> dims_{};
  std::size_t rank_ = 0;
};

/// Distance between neighbours along each axis, in elements.
using Strides = std::array<std::int64_t, Shape::kMaxRank>;

/// Strides of a dense row-major tensor of this shape.
CACHEBISECT_API Strides dense_strides(const Shape& shape) noexcept;

}  // namespace cachebisect
