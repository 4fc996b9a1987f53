// Reads a text file that the user named.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// The content of a regular file; of a file larger than `max_bytes`, somewhat more than that.
/// Throws Error(usage) naming the path and what would be right: `document` is "a pipeline file".
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string read_text_file(const std::string& file,
                                                                  std::size_t max_bytes,
                                                                  std::string_view document);

}  // namespace cachebisect
