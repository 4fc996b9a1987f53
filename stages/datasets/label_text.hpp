// Labels as files have them: text, or a number of a JSON object. Allocates nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "cachebisect/base/export.hpp"

namespace cachebisect::stages {

/// The whole number that is all of the text, white space around it aside.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<std::int64_t> whole_number(
    std::string_view text) noexcept;
/// The whole number under `key` of the JSON object that is the text; of a key that is there twice,
/// the last. Empty if there is none, or if the object does not end. What is under other keys is not
/// checked; keys are compared as they are written.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<std::int64_t> json_number(
    std::string_view text, std::string_view key) noexcept;

}  // namespace cachebisect::stages
