// The report as Prometheus reads it: the text format 0.0.4, one gauge per metric
// (https://prometheus.io/docs/instrumenting/exposition_formats/).
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/printable.hpp"
#include "cachebisect/base/version.hpp"
#include "cachebisect/report/words/metrics.hpp"
#include "cachebisect/report/writers.hpp"

namespace cachebisect {
namespace {

using Labels = std::vector<MetricLabel>;

/// The text format knows three escapes in the value of a label.
std::string label_value(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

std::string label_set(const Report& report, const Labels& labels) {
  std::string text = "{pipeline=\"" + label_value(report.chain.name) + '"';
  for (const MetricLabel& label : labels) {
    text += ',' + std::string(label.name) + "=\"" + label_value(label.value) + '"';
  }
  return text + '}';
}

std::string full_name(const Metric& metric) { return "cachebisect_" + std::string(metric.name); }

std::string head(const std::string& name, std::string_view help) {
  return "# HELP " + name + ' ' + std::string(help) + "\n# TYPE " + name + " gauge\n";
}

/// One metric family; empty if none of its figures is known.
class Family {
 public:
  Family(const Report& report, std::string name, std::string_view help)
      : report_(report), name_(std::move(name)), head_(head(name_, help)) {}

  void add(const Labels& labels, double value) {
    lines_ += name_ + label_set(report_, labels) + ' ' + format_exact(value) + '\n';
  }
  [[nodiscard]] std::string text() const { return lines_.empty() ? "" : head_ + lines_; }

 private:
  const Report& report_;
  std::string name_;
  std::string head_;
  std::string lines_;
};

std::string metric_text(const Report& report, const Metric& metric) {
  const std::string name = full_name(metric);
  Family value(report, name, metric.help);
  Family lower(report, name + "_lower", "Lower end of the interval of " + name + ".");
  Family upper(report, name + "_upper", "Upper end of the interval of " + name + ".");
  for (const MetricReading& reading : metric.read(report)) {
    value.add(reading.labels, *reading.estimate.value);
    if (!reading.estimate.interval) continue;
    lower.add(reading.labels, reading.estimate.interval->low);
    upper.add(reading.labels, reading.estimate.interval->high);
  }
  return value.text() + lower.text() + upper.text();
}

/// Texts are labels of a gauge that is always 1.
std::string info_text(const Report& report, const std::string& name, std::string_view help,
                      const Labels& labels) {
  Family family(report, name, help);
  family.add(labels, 1);
  return family.text();
}

std::string verdict_info(const Report& report) {
  const Verdict& verdict = report.verdict;
  return info_text(report, "cachebisect_verdict_info", "The verdict in its labels; always 1.",
                   {{"kind", to_string(verdict.kind)},
                    {"stage", verdict.stage},
                    {"fix_first", verdict.fix_first}});
}

std::string run_info(const Report& report) {
  return info_text(report, "cachebisect_run_info", "What was run in its labels; always 1.",
                   {{"version", version()},
                    {"command", report.command},
                    {"device", report.chain.device_name},
                    {"device_kind", std::string(to_string(report.chain.device_kind))},
                    {"cpu", report.machine.cpu}});
}

}  // namespace

std::string to_prometheus(const Report& report) {
  std::string text = verdict_info(report) + run_info(report);
  for (const Metric& metric : report_metrics()) text += metric_text(report, metric);
  return text;
}

}  // namespace cachebisect
