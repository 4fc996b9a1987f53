// The ladder of tune() as JSON, to be read by dashboards and to go on from.
#pragma once

#include <string>
#include <string_view>

#include "cachebisect/base/export.hpp"
#include "cachebisect/tune/tune.hpp"

namespace cachebisect::tune {

/// One JSON object.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string to_json(const Result& result);
/// What to_json() wrote. Throws Error(usage) that names `origin` and the place of what is wrong.
[[nodiscard]] CACHEBISECT_INTERNAL_API Result read_ladder(std::string_view text,
                                                          const std::string& origin);
/// The same from a file.
[[nodiscard]] CACHEBISECT_INTERNAL_API Result load_ladder(const std::string& file);

}  // namespace cachebisect::tune
