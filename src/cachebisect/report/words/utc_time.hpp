// Times of day in UTC as reports write them.
#pragma once

#include <optional>
#include <string_view>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// Seconds since 1970 of "2026-01-02T03:04:05Z" (RFC 3339, whole seconds, UTC); empty for any other
/// text and for a date that does not exist.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<double> unix_seconds(
    std::string_view utc) noexcept;

}  // namespace cachebisect
