// Writers of a report: text for a terminal, JSON for dashboards. They compute nothing.
#pragma once

#include <iosfwd>
#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

struct TextOptions {
  bool color = false;
  int columns = 80;
};

/// The terminal report (docs/report.md, "On the terminal").
CACHEBISECT_API std::string to_text(const Report& report, const TextOptions& options = {});
/// The JSON report (docs/report.md, "As JSON"), indented, ending in a newline.
CACHEBISECT_API void write_json(const Report& report, std::ostream& out);
/// The JSON Schema of the JSON report.
CACHEBISECT_API std::string report_schema();

}  // namespace cachebisect
