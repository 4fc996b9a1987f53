// What prepare() measured and wrote, for a terminal and as JSON.
#pragma once

#include <string>

#include "cachebisect/format/text_options.hpp"
#include "cachebisect/prepare/prepare.hpp"

namespace cachebisect::prepare {

/// The table of places, what was chosen and why, and what was written.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string to_text(const Result& result,
                                                           const TextOptions& options);
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string to_json(const Result& result);

}  // namespace cachebisect::prepare
