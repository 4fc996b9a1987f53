#include "cachebisect/report/formats.hpp"

#include <array>
#include <sstream>

#include "cachebisect/report/writers.hpp"

namespace cachebisect {
namespace {

std::string json_text(const Report& report) {
  std::ostringstream text;
  write_json(report, text);
  return text.str();
}

constexpr std::array kFormats{
    ReportFormat{"--json", "report.json", "write the JSON report; - is standard output", json_text},
    ReportFormat{"", "report.txt", "", [](const Report& report) { return to_text(report); }},
};

}  // namespace

std::span<const ReportFormat> report_formats() noexcept { return kFormats; }

}  // namespace cachebisect
