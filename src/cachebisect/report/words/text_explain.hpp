// The report's glossary: what each of its numbers means (--explain).
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/format/text_layout.hpp"

namespace cachebisect {

/// One paragraph per number, wrapped at `columns`. `report`: as of printable_report().
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string explain_text(const Report& report,
                                                                const TextPaint& paint,
                                                                int columns);

}  // namespace cachebisect
