// Parses untrusted JSON text, with limits on size and depth. Internal to pipeline/file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace cachebisect::spec {

inline constexpr std::size_t kMaxDepth = 32;
inline constexpr std::size_t kMaxBytes = std::size_t{4} << 20U;

/// Comments are allowed. Throws Error(usage) "origin:line:column: what" for text that is empty,
/// larger than kMaxBytes, not UTF-8, not JSON, nested deeper than kMaxDepth, or contains a
/// duplicate key in an object or a number that does not fit a double. Columns count characters
/// from 1.
nlohmann::json read_json(std::string_view text, const std::string& origin);

}  // namespace cachebisect::spec
