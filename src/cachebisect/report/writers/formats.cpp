#include "cachebisect/report/writers/formats.hpp"

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

/// A writer without options.
template <std::string (*Write)(const Report&)>
std::string always(const Report& report, const FormatOptions& /*options*/) {
  return Write(report);
}

std::string text_file(const Report& report, const FormatOptions& options) {
  return to_text(report, {.explain = options.explain});
}

std::string markdown_file(const Report& report, const FormatOptions& options) {
  return to_markdown(report, {.explain = options.explain});
}

constexpr std::array kFormats{
    ReportFormat{"--json", "report.json", "write the JSON report; - is standard output",
                 always<json_text>},
    ReportFormat{"--html", "report.html", "write the report as one page for a browser",
                 always<to_html>},
    ReportFormat{"--yaml", "report.yaml", "write the JSON report's content as YAML",
                 always<to_yaml>},
    ReportFormat{"--csv", "report.csv", "write a row per boundary and stage as CSV",
                 always<to_csv>},
    ReportFormat{"--prometheus", "report.prom",
                 "write gauges for the textfile collector of Prometheus", always<to_prometheus>},
    // TensorBoard's plugin for traces finds it by this ending, next to the event file.
    ReportFormat{"--trace", "cachebisect.pt.trace.json",
                 "write the blocks as a Chrome trace for Perfetto", always<to_trace>},
    ReportFormat{"", "events.out.tfevents.cachebisect", "", always<to_tensorboard>},
    ReportFormat{"", "report.md", "", markdown_file},
    ReportFormat{"", "report.txt", "", text_file},
};

}  // namespace

std::span<const ReportFormat> report_formats() noexcept { return kFormats; }

}  // namespace cachebisect
