// What an HTTP answer says besides the bytes of an object.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cachebisect {

/// 100000 of "bytes 0-4095/100000".
[[nodiscard]] std::optional<std::uint64_t> size_in_content_range(std::string_view value);
/// Whether such a value is of the part that begins there.
[[nodiscard]] bool begins_at(std::string_view value, std::uint64_t begin);
/// The value of a line "NAME: VALUE"; empty if it is of another header. `name` is in lower case.
[[nodiscard]] std::optional<std::string_view> header_value(std::string_view line,
                                                           std::string_view name);

/// "HTTP status 403 (AccessDenied: Access Denied)": with the words of S3 if `body` has them.
[[nodiscard]] std::string refusal_text(long status, std::string_view body);

}  // namespace cachebisect
