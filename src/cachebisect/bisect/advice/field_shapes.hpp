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

/// The dimensions of "32, 32, 3"; empty if one is not known.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<std::vector<std::int64_t>> dims_of(
    std::string_view dims);
/// Of an element of this type; 0 if there is no such type.
[[nodiscard]] CACHEBISECT_INTERNAL_API double type_bytes(std::string_view dtype);
/// Of the field; empty if its shape or type is not known.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<double> bytes_of(const FieldText& field);

/// Makes the dimensions of a sample those that a batch has. False if its values do not lie in a
/// batch as in the sample: where collate puts the channels of an image first (`planar`).
[[nodiscard]] CACHEBISECT_INTERNAL_API bool keeps_its_order(std::vector<std::int64_t>& dims,
                                                            bool planar);

/// Takes the first dimension off; empty for "?", and where there is none.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<std::int64_t> take_side(
    std::string_view& dims);

}  // namespace cachebisect
