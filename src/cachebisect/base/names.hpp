// Names in messages: quoting user input, and suggesting the known name that was probably meant.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// `text` in double quotes, safe for a terminal: control characters and bytes beyond ASCII as \xNN,
/// clipped after 80 bytes.
CACHEBISECT_INTERNAL_API std::string quote(std::string_view text);

/// Optimal string alignment distance (Levenshtein plus swaps of adjacent letters), ignoring case.
CACHEBISECT_INTERNAL_API std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known name nearest to `name`; empty if none is near enough to be a typing error. A name
/// without its category ("random_crop" for "augment.random_crop") counts as near.
CACHEBISECT_INTERNAL_API std::optional<std::string> nearest_name(
    std::string_view name, std::span<const std::string> known);

/// `did you mean "x"?`, or `known: a, b, c` if no name is near. Empty if no names are known.
CACHEBISECT_INTERNAL_API std::string suggestion(std::string_view name,
                                                std::span<const std::string> known);

/// True for one or more characters of [a-z0-9_-].
CACHEBISECT_INTERNAL_API bool is_plain_name(std::string_view name) noexcept;

}  // namespace cachebisect
