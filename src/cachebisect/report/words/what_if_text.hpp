// The what-ifs of a report, on a terminal, as Markdown and on the page: predicted next to measured,
// and what each gains.
#pragma once

#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/format/document/document.hpp"

namespace cachebisect {

/// Without rows if no what-if was asked.
[[nodiscard]] document::Table what_if_table(const Report& report);

}  // namespace cachebisect
