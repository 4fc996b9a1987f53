// Writers of a report: text for a terminal, JSON for programs, formats of other tools. They compute
// nothing.
#pragma once

#include <iosfwd>
#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/format/text_options.hpp"

namespace cachebisect {

struct MarkdownOptions {
  bool explain = false;  ///< what each number means, after the warnings
};

/// The terminal report (docs/use/report.md, "On the terminal").
CACHEBISECT_API std::string to_text(const Report& report, const TextOptions& options = {});
/// The report as one page of Markdown (docs/use/report.md, "As Markdown").
CACHEBISECT_API std::string to_markdown(const Report& report, const MarkdownOptions& options = {});
/// The JSON report (docs/use/report.md, "As JSON"), indented, ending in a newline.
CACHEBISECT_API void write_json(const Report& report, std::ostream& out);
/// The report as one HTML page that loads nothing (docs/use/report.md, "As a page").
CACHEBISECT_API std::string to_html(const Report& report);
/// The content of the JSON report as YAML.
CACHEBISECT_API std::string to_yaml(const Report& report);
/// The report as CSV (docs/use/report.md, "As CSV"): a row per boundary, and in it the stage that
/// ends there. Lines end in CR LF (RFC 4180).
CACHEBISECT_API std::string to_csv(const Report& report);
/// The figures of the report as gauges in the text format of Prometheus (docs/use/dashboards.md).
CACHEBISECT_API std::string to_prometheus(const Report& report);
/// The same figures, the blocks and the page of Markdown as an event file of TensorBoard (bytes).
CACHEBISECT_API std::string to_tensorboard(const Report& report);
/// The blocks of the report as a Chrome trace (docs/use/report.md, "As a trace").
CACHEBISECT_API std::string to_trace(const Report& report);
/// The JSON Schema of the JSON report.
CACHEBISECT_API std::string report_schema();

}  // namespace cachebisect
