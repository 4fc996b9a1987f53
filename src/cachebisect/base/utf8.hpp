// Validation of UTF-8.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// Offset of the first byte that is not well-formed UTF-8 (RFC 3629: no overlong forms, surrogates
/// or code points beyond U+10FFFF); empty if the whole text is.
CACHEBISECT_INTERNAL_API std::optional<std::size_t> first_invalid_utf8(
    std::string_view text) noexcept;

}  // namespace cachebisect
