// A remedy in words.
#pragma once

#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// "gains 3,050 samples/s (2,980 to 3,110, predicted), 2,980 samples/s (2,950 to 3,020, measured)";
/// empty if neither is known.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string remedy_gain(const Remedy& remedy);
/// What to say before remedies of which even the first may lose throughput; else empty.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string remedies_caution(
    const std::vector<Remedy>& remedies);
/// "in the file: /workers = 4".
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string edit_text(const Edit& edit);

}  // namespace cachebisect
