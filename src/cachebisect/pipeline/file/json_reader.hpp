// JSON text to a tree, with every limit that outside bytes need. Internal to the pipeline floor.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace cachebisect::spec {

inline constexpr std::size_t kMaxDepth = 32;
inline constexpr std::size_t kMaxBytes = std::size_t{4} << 20U;

/// Comments are allowed. Throws Error(usage) "origin:line:column: what" for what is empty, larger
/// than kMaxBytes, not UTF-8, not JSON, nested deeper than kMaxDepth, has a key twice in one object
/// or a number beyond a double. Columns count characters from 1.
nlohmann::json read_json(std::string_view text, const std::string& origin);

}  // namespace cachebisect::spec
