// How deep JSON text is nested, told before anything is built of it.
#pragma once

#include <cstddef>
#include <string_view>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// More than any text of ours needs. What copies or writes a value calls itself at each level: a
/// million brackets would end in an overflow of the stack.
inline constexpr std::size_t kMostJsonDepth = 64;

/// Whether objects and lists are nested deeper than kMostJsonDepth. Of text that is no JSON,
/// whether its brackets are, outside of what looks like a string. Allocates nothing.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool is_nested_too_deep(std::string_view text) noexcept;

}  // namespace cachebisect
