// How many columns of a terminal characters take.
#pragma once

#include <cstddef>
#include <string_view>

namespace cachebisect {

/// 2 for wide characters (most of Chinese, Japanese and Korean, emoji), 0 for combining ones, else
/// 1: wcwidth() of the C library, whatever the process's locale. 1 for bytes that are not UTF-8.
/// `character` is one character, as utf8_length() delimits it.
[[nodiscard]] std::size_t character_columns(std::string_view character) noexcept;

}  // namespace cachebisect
