#include "stages/datasets/array_box.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace cachebisect::stages {
namespace {

/// Where an element of the larger array lies, in elements from the first of the box.
std::int64_t offset_of(const ArrayBox& box, const Shape& place) {
  std::int64_t offset = 0;
  for (std::size_t axis = 0; axis < place.rank(); ++axis)
    offset = offset * box.extent[axis] + place[axis] - box.begin[axis];
  return offset;
}

/// Calls run(place) for the first element of each row of the box; a row lies along the last axis.
template <class Run>
void for_each_row(const ArrayBox& part, const Run& run) {
  Shape place = part.begin;
  const std::size_t rank = place.rank();
  for (;;) {
    run(place);
    std::size_t axis = rank - 1;
    do {
      if (axis == 0) return;
      --axis;
      if (++place[axis] < part.begin[axis] + part.extent[axis]) break;
      place[axis] = part.begin[axis];
    } while (true);
  }
}

}  // namespace

ArrayBox overlap(const ArrayBox& a, const ArrayBox& b) {
  ArrayBox common = a;
  for (std::size_t axis = 0; axis < a.begin.rank(); ++axis) {
    const std::int64_t begin = std::max(a.begin[axis], b.begin[axis]);
    const std::int64_t end =
        std::min(a.begin[axis] + a.extent[axis], b.begin[axis] + b.extent[axis]);
    common.begin[axis] = begin;
    common.extent[axis] = end - begin;
  }
  return common;
}

void copy_box(const BoxBytes<const std::byte>& from, const BoxBytes<std::byte>& to,
              const ArrayBox& part, std::size_t element_bytes) {
  const std::size_t last = part.extent.rank() - 1;
  const std::size_t row_bytes = static_cast<std::size_t>(part.extent[last]) * element_bytes;
  for_each_row(part, [&](const Shape& place) {
    std::memcpy(to.data + static_cast<std::size_t>(offset_of(to.box, place)) * element_bytes,
                from.data + static_cast<std::size_t>(offset_of(from.box, place)) * element_bytes,
                row_bytes);
  });
}

void fill_box(std::span<const std::byte> element, const BoxBytes<std::byte>& to,
              const ArrayBox& part) {
  const auto count = static_cast<std::size_t>(part.extent[part.extent.rank() - 1]);
  for_each_row(part, [&](const Shape& place) {
    std::byte* at = to.data + static_cast<std::size_t>(offset_of(to.box, place)) * element.size();
    for (std::size_t i = 0; i < count; ++i, at += element.size())
      std::memcpy(at, element.data(), element.size());
  });
}

}  // namespace cachebisect::stages
