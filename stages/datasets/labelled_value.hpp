// Image and label out of one value of a key-value store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "cachebisect/base/export.hpp"

namespace cachebisect::stages {

struct LabelledValue {
  std::span<const std::byte> image;
  std::int64_t label = 0;
};

/// A pickled (image, label) or [image, label]: bytes and an integer, of pickle protocol 3 or newer.
/// Nothing is executed. Empty for anything else.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<LabelledValue> parse_pickled_pair(
    std::span<const std::byte> value);
/// A Datum of Caffe whose data is an encoded image. Empty for anything else.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<LabelledValue> parse_datum(
    std::span<const std::byte> value);
/// "7" of "7/photo", "7_photo" and "0007".
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<std::int64_t> leading_number(
    std::string_view key);

}  // namespace cachebisect::stages
