// Which part of an array each sample is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "stages/datasets/array_box.hpp"

#include "cachebisect/base/export.hpp"
#include "cachebisect/data/shape.hpp"

namespace cachebisect::stages {

/// Items along the first axis, windows within each item, or windows of the whole array. Windows lie
/// on a regular grid; those that would reach over the edge are left out.
class CACHEBISECT_INTERNAL_API WindowGrid {
 public:
  /// `window`: extents of a sample: none: an item; of all axes but the first: within an item; of
  /// all axes: of the whole array. `step`: from one window to the next; none: the window. Throws
  /// Error(usage) that names the parameter if they do not fit the array.
  WindowGrid(const Shape& array, const std::vector<std::int64_t>& window,
             const std::vector<std::int64_t>& step);

  [[nodiscard]] std::uint64_t size() const noexcept;
  /// Without the first axis if a sample is of one item.
  [[nodiscard]] Shape sample_shape() const;
  [[nodiscard]] ArrayBox box(std::uint64_t index) const;
  /// Windows at one place along the first axis.
  [[nodiscard]] std::uint64_t windows_per_item() const noexcept;
  [[nodiscard]] bool has_items() const noexcept { return has_items_; }

 private:
  bool has_items_ = true;
  Shape extent_;
  Shape step_;
  Shape count_;  ///< windows along each axis
};

/// Throws Error(usage) that names the array, `what`, if a sample would have more than 1 GiB.
void require_sample_fits(const WindowGrid& grid, std::size_t element_bytes,
                         const std::string& what);

}  // namespace cachebisect::stages
