// Arithmetic on the grid of chunks of an array.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stages/datasets/array_box.hpp"

#include "cachebisect/data/shape.hpp"

namespace cachebisect::stages {

/// The number of `place` in a dense array of this shape.
inline std::uint64_t number_in(const Shape& shape, const Shape& place) noexcept {
  std::uint64_t number = 0;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    number =
        number * static_cast<std::uint64_t>(shape[axis]) + static_cast<std::uint64_t>(place[axis]);
  }
  return number;
}

/// The place with this number.
inline Shape place_in(const Shape& shape, std::uint64_t number) noexcept {
  Shape place = shape;
  for (std::size_t axis = shape.rank(); axis-- > 0;) {
    const auto extent = static_cast<std::uint64_t>(shape[axis]);
    place[axis] = static_cast<std::int64_t>(number % extent);
    number /= extent;
  }
  return place;
}

/// combine(a, b) of each axis.
template <class Combine>
Shape by_axis(const Shape& a, const Shape& b, const Combine& combine) {
  Shape result = a;
  for (std::size_t axis = 0; axis < a.rank(); ++axis) result[axis] = combine(a[axis], b[axis]);
  return result;
}

inline Shape quotient(const Shape& a, const Shape& b) {
  return by_axis(a, b, [](std::int64_t x, std::int64_t y) { return x / y; });
}
inline Shape remainder(const Shape& a, const Shape& b) {
  return by_axis(a, b, [](std::int64_t x, std::int64_t y) { return x % y; });
}
inline Shape product(const Shape& a, const Shape& b) {
  return by_axis(a, b, [](std::int64_t x, std::int64_t y) { return x * y; });
}
/// How many chunks there are along each axis.
inline Shape grid_of(const Shape& array, const Shape& chunk) {
  return by_axis(array, chunk, [](std::int64_t x, std::int64_t y) { return (x - 1) / y + 1; });
}

/// Calls run(place) for each chunk that the box touches, in their order.
template <class Run>
void for_each_chunk(const ArrayBox& box, const Shape& chunk, const Run& run) {
  const Shape first = quotient(box.begin, chunk);
  Shape last = first;
  for (std::size_t axis = 0; axis < chunk.rank(); ++axis)
    last[axis] = (box.begin[axis] + box.extent[axis] - 1) / chunk[axis];
  Shape place = first;
  for (;;) {
    run(place);
    std::size_t axis = chunk.rank();
    for (; axis > 0; --axis) {
      if (++place[axis - 1] <= last[axis - 1]) break;
      place[axis - 1] = first[axis - 1];
    }
    if (axis == 0) return;
  }
}

}  // namespace cachebisect::stages
