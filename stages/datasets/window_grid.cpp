#include "stages/datasets/window_grid.hpp"

#include <cstddef>
#include <string>

#include "cachebisect/base/error.hpp"

namespace cachebisect::stages {
namespace {

/// `given` of all axes, with 1 in front where it is of one item.
Shape with_item_axis(const Shape& array, const std::vector<std::int64_t>& given, const char* name) {
  const Shape shape(given);
  if (given.size() == array.rank()) return shape;
  if (given.size() + 1 == array.rank()) return shape.with_leading(1);
  throw Error(ErrorKind::usage, "\"" + std::string(name) + "\" has " +
                                    std::to_string(given.size()) + " extents, and the array has " +
                                    std::to_string(array.rank()) + " axes, " + array.to_string() +
                                    ": give one for each axis, or for each but the first");
}

Shape item_of(const Shape& array) {
  Shape item = array;
  item[0] = 1;
  return item;
}

}  // namespace

WindowGrid::WindowGrid(const Shape& array, const std::vector<std::int64_t>& window,
                       const std::vector<std::int64_t>& step)
    : has_items_(window.size() != array.rank()),
      extent_(window.empty() ? item_of(array) : with_item_axis(array, window, "window")),
      step_(step.empty() ? extent_ : with_item_axis(array, step, "step")),
      count_(array) {
  if (!step.empty() && step.size() != window.size()) {
    throw Error(ErrorKind::usage, "\"step\" has " + std::to_string(step.size()) +
                                      " extents; give it as many as \"window\" has, " +
                                      std::to_string(window.size()));
  }
  for (std::size_t axis = 0; axis < array.rank(); ++axis) {
    if (extent_[axis] > array[axis]) {
      throw Error(ErrorKind::usage,
                  "\"window\" is larger than the array: " + std::to_string(extent_[axis]) + " of " +
                      std::to_string(array[axis]) + " along axis " + std::to_string(axis) + " of " +
                      array.to_string());
    }
    count_[axis] = (array[axis] - extent_[axis]) / step_[axis] + 1;
  }
}

std::uint64_t WindowGrid::size() const noexcept {
  return static_cast<std::uint64_t>(count_.elements());
}

std::uint64_t WindowGrid::windows_per_item() const noexcept {
  return size() / static_cast<std::uint64_t>(count_[0]);
}

Shape WindowGrid::sample_shape() const {
  return has_items_ ? Shape(extent_.dims().subspan(1)) : extent_;
}

ArrayBox WindowGrid::box(std::uint64_t index) const {
  ArrayBox box{count_, extent_};
  for (std::size_t axis = count_.rank(); axis-- > 0;) {
    const auto count = static_cast<std::uint64_t>(count_[axis]);
    box.begin[axis] = static_cast<std::int64_t>(index % count) * step_[axis];
    index /= count;
  }
  return box;
}

void require_sample_fits(const WindowGrid& grid, std::size_t element_bytes,
                         const std::string& what) {
  constexpr std::uint64_t kMostSampleBytes = std::uint64_t{1} << 30U;
  const Shape shape = grid.sample_shape();
  if (static_cast<std::uint64_t>(shape.elements()) <= kMostSampleBytes / element_bytes) return;
  throw Error(ErrorKind::usage, what + ": a sample would be " + shape.to_string() +
                                    ", more than 1 GiB; give a smaller \"window\"");
}

}  // namespace cachebisect::stages
