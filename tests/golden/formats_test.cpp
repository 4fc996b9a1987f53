// The file formats of a report. Readers of others read them in tests/readers.
#include "cachebisect/report/writers/formats.hpp"

#include <limits>
#include <sstream>
#include <string>

#include "golden/hostile_report.hpp"
#include "golden/page_report.hpp"
#include "support/golden.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/utf8.hpp"
#include "cachebisect/base/version.hpp"
#include "cachebisect/report/words/metrics.hpp"
#include "cachebisect/report/writers.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

/// The text with VERSION for the version, so that a release does not change the golden file.
std::string without_version(std::string text) {
  const std::string label = "version=\"" + std::string(version());
  return text.replace(text.find(label), label.size(), "version=\"VERSION");
}

}  // namespace

TEST_CASE("a report as CSV is the golden one") {
  check_golden_file("drop.csv", to_csv(sample_report()));
}

TEST_CASE("the drop of a span stands in columns of its own") {
  const std::string text = to_csv(spanned_report());
  CHECK(has(text, ",,,,false,false,stages 1-2 together,0.6,0.59,0.61,true,"));
  CHECK(!has(text, "true,false,stages 1-2 together"));
}

TEST_CASE("a report as Markdown is the golden one") {
  std::string text = to_markdown(sample_report());
  const std::size_t tool = text.find("| tool | ");
  CHECK(has(text.substr(tool), version()));
  text.erase(tool, text.find('\n', tool) + 1 - tool);
  check_golden_file("drop.md", text);
}

TEST_CASE("a report as metrics of Prometheus is the golden one") {
  check_golden_file("drop.prom", without_version(to_prometheus(sample_report())));
}

TEST_CASE("a figure that is not finite is no metric") {
  Report report = sample_report();
  report.live.value = std::numeric_limits<double>::quiet_NaN();
  report.ceiling.interval->high = std::numeric_limits<double>::infinity();
  const std::string text = to_prometheus(report);
  CHECK(!has(text, "cachebisect_live_samples_per_second"));
  CHECK(has(text, "cachebisect_ceiling_samples_per_second{pipeline=\"photos\"} 2500\n"));
  CHECK(!has(text, "cachebisect_ceiling_samples_per_second_"));
}

TEST_CASE("every metric and every column is documented") {
  const std::string metrics = read_file(CACHEBISECT_SOURCE_DIR "/docs/use/dashboards.md");
  for (const Metric& metric : report_metrics()) {
    CAPTURE(metric.name);
    CHECK(has(metrics, "| `" + std::string(metric.name) + "` |"));
  }
  const std::string csv = read_file(CACHEBISECT_SOURCE_DIR "/docs/use/report.md");
  std::istringstream titles(to_csv(Report{}));
  for (std::string title; std::getline(titles, title, ',');) {
    title = title.substr(0, title.find("_low"));
    title = title.substr(0, title.find("_high"));
    title = title.substr(0, title.find('\r'));
    CAPTURE(title);
    CHECK(has(csv, "`" + title + "`"));
  }
}

TEST_CASE("every format writes an empty report") {
  for (const ReportFormat& format : report_formats()) {
    CAPTURE(format.file);
    CHECK(!format.write(Report{}).empty());
  }
}

TEST_CASE("no text of a report writes a control character or broken UTF-8 into a file") {
  for (const ReportFormat& format : report_formats()) {
    CAPTURE(format.file);
    if (has(format.file, "tfevents")) continue;  // binary
    const std::string text = format.write(hostile_report());
    CHECK(!has(text, "\x1b"));
    CHECK(!has(text, "\t"));
    CHECK(!first_invalid_utf8(text).has_value());
  }
}
