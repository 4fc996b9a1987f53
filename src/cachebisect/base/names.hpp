// Names in messages: quoting what a user wrote, and finding the known name that was meant.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// `text` in double quotes, safe for a terminal: control characters and invalid bytes as \xNN,
/// clipped after 80 bytes.
CACHEBISECT_API std::string quote(std::string_view text);

/// Optimal string alignment distance (Levenshtein plus swaps of neighbours), letter case ignored.
CACHEBISECT_API std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known name nearest to `name`; none when all are too far to be a slip of the pen. A name that
/// lacks the category ("random_crop" for "augment.random_crop") is near too.
CACHEBISECT_API std::optional<std::string> nearest_name(std::string_view name,
                                                        std::span<const std::string> known);

/// `did you mean "x"?`, or `known: a, b, c` when nothing is near. Empty when there is nothing
/// known.
CACHEBISECT_API std::string suggestion(std::string_view name, std::span<const std::string> known);

/// True for one or more characters of [a-z0-9_-].
CACHEBISECT_API bool is_plain_name(std::string_view name) noexcept;

}  // namespace cachebisect
