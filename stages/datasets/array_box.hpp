// Boxes of elements in dense arrays of up to six dimensions: copied and filled.
#pragma once

#include <cstddef>
#include <span>

#include "cachebisect/base/export.hpp"
#include "cachebisect/data/shape.hpp"

namespace cachebisect::stages {

/// Elements from `begin` on, in an array that has this rank.
struct ArrayBox {
  Shape begin;
  Shape extent;
};

/// What both have in common, from the beginning of the array; empty extents are 0 or less.
[[nodiscard]] CACHEBISECT_INTERNAL_API ArrayBox overlap(const ArrayBox& a, const ArrayBox& b);

/// A dense array that covers a box of a larger one.
template <class Byte>
struct BoxBytes {
  Byte* data;
  ArrayBox box;
};

/// Copies the elements of `part`, which lies within both.
CACHEBISECT_INTERNAL_API void copy_box(const BoxBytes<const std::byte>& from,
                                       const BoxBytes<std::byte>& to, const ArrayBox& part,
                                       std::size_t element_bytes);
/// Writes `element` to each place of `part`, which lies within `to`.
CACHEBISECT_INTERNAL_API void fill_box(std::span<const std::byte> element,
                                       const BoxBytes<std::byte>& to, const ArrayBox& part);

}  // namespace cachebisect::stages
