// The fields that a stage outputs, from its description.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// A field of "image uint8 [32, ?, 3], label int64 []".
struct FieldText {
  std::string_view name;
  std::string_view dtype;
  std::string_view dims;  ///< "32, ?, 3"
};

/// Views of `fields`. What cannot be read ends the list.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<FieldText> field_texts(std::string_view fields);

/// The dims of a field; empty if it is not there.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string_view shape_text(std::string_view fields,
                                                                   std::string_view name);

/// Takes the first dimension off; empty for "?", and where there is none.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<std::int64_t> take_side(
    std::string_view& dims);

}  // namespace cachebisect
