// What the source reads, in words.
#pragma once

#include <string>

#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// "67 kB per sample: 131 MB/s live, 345 MB/s for the ceiling"; empty if it is not known, or so
/// little that no storage limits it.
[[nodiscard]] std::string reading_text(const Report& report);

}  // namespace cachebisect
