// The formats in which a report is written to files.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// What the formats that people read contain besides.
struct FormatOptions {
  bool explain = false;  ///< what each number means
};

struct ReportFormat {
  std::string_view option;  ///< "--json"; empty: written by --out only
  std::string_view file;    ///< its name in a folder: "report.json"
  std::string_view help;    ///< of the option
  std::string (*writer)(const Report& report, const FormatOptions& options);

  [[nodiscard]] std::string write(const Report& report, const FormatOptions& options = {}) const {
    return writer(report, options);
  }
};

/// All formats. A new one is one more row in formats.cpp.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::span<const ReportFormat> report_formats() noexcept;

}  // namespace cachebisect
