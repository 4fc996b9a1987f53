// Labels from arrays of whole numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cachebisect/data/dtype.hpp"
#include "cachebisect/data/shape.hpp"

namespace cachebisect::stages {

/// Whether elements of this type can be labels.
[[nodiscard]] bool is_label_type(DType dtype) noexcept;
/// Appends the elements in `bytes`, whose type is_label_type().
void append_labels(DType dtype, std::span<const std::byte> bytes, std::vector<std::int64_t>& out);

/// How many labels there are: `per_item` or `samples` of them. Throws Error(usage), "what is wrong"
/// alone, for another number, another type or shape, and for more than memory has room for.
std::uint64_t check_labels(DType dtype, const Shape& shape, std::uint64_t per_item,
                           std::uint64_t samples);

}  // namespace cachebisect::stages
