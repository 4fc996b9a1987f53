// Parses untrusted JSON text, with limits on size and depth.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// What a document may be.
struct JsonLimits {
  std::size_t max_bytes = std::size_t{4} << 20U;
  std::size_t max_depth = 32;
  std::string_view document;  ///< what it should be, in messages: "a pipeline file"
  bool comments = false;      ///< are allowed
};

/// Throws Error(usage) "origin:line:column: what" for text that is empty, larger than the limit,
/// not UTF-8, not JSON, nested too deep, or contains a duplicate key in an object or a number that
/// does not fit a double. Columns count characters from 1.
[[nodiscard]] CACHEBISECT_INTERNAL_API nlohmann::json read_json(std::string_view text,
                                                                const std::string& origin,
                                                                const JsonLimits& limits);

}  // namespace cachebisect
