// A remedy in words.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// "gains 3,050 samples/s (predicted), 2,980 samples/s (measured)"; empty if neither is known.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string remedy_gain(const Remedy& remedy);
/// "in the file: /workers = 4".
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string edit_text(const Edit& edit);

}  // namespace cachebisect
