// A sample as bytes, to be stored. Not for other machines: numbers are as this one has them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/data/sample.hpp"

namespace cachebisect::stages {

/// Writes all fields of `sample`, densely; replaces what `out` held.
CACHEBISECT_INTERNAL_API void to_bytes(const Sample& sample, std::vector<std::byte>& out);

/// Sets the fields of `out` to those that to_bytes() wrote. False if `bytes` are anything else;
/// fields of `out` may have changed then.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool from_bytes(std::span<const std::byte> bytes,
                                                       Sample& out);

}  // namespace cachebisect::stages
