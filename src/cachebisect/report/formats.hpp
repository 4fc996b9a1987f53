// The formats in which a report is written to files.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

struct ReportFormat {
  std::string_view option;  ///< of the command: "--json"; empty if only a folder of reports has it
  std::string_view file;    ///< its name in such a folder: "report.json"
  std::string_view help;
  std::string (*write)(const Report& report);
};

/// A new writer is one row here.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::span<const ReportFormat> report_formats() noexcept;

}  // namespace cachebisect
