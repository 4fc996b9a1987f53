// The extents of a chunk, a sample or an array, as people write them: "64x64x3".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// Elements along each dimension, slowest first.
using ChunkShape = std::vector<std::uint64_t>;

/// Parses "64x64x3". Throws Error(usage), which names `what`, for an extent that is no whole number
/// from 1 or does not fit 64 bits, and for more than 12 dimensions.
[[nodiscard]] CACHEBISECT_INTERNAL_API ChunkShape parse_chunk_shape(std::string_view what,
                                                                    std::string_view text);
/// "64x64x3".
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string shape_text(const ChunkShape& shape);

/// Bytes of one element of a type as NumPy calls it. Throws Error(usage), which names `what`, for a
/// type that is not known.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::uint64_t bytes_of_element(std::string_view what,
                                                                      std::string_view type);

}  // namespace cachebisect
