// Shapes of fields, from the description of what a stage outputs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// The text of the shape of a field in "image uint8 [32, ?, 3], label int64 []": "32, ?, 3". Empty
/// if the field is not there.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string_view shape_text(std::string_view fields,
                                                                   const std::string& name);

/// Takes the first dimension off; empty for "?", and where there is none.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<std::int64_t> take_side(
    std::string_view& dims);

}  // namespace cachebisect
