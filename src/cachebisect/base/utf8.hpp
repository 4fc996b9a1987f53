// Well-formed UTF-8 (RFC 3629): no overlong forms, surrogates or code points beyond U+10FFFF.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// Bytes of the character at `i`; 0 if it is not well-formed.
std::size_t utf8_length(std::string_view text, std::size_t i) noexcept;
/// Offset of the first byte that is not part of a well-formed character; empty if there is none.
CACHEBISECT_INTERNAL_API std::optional<std::size_t> first_invalid_utf8(
    std::string_view text) noexcept;

}  // namespace cachebisect
