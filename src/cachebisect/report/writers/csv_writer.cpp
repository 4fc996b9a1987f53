// The report as CSV: a row per boundary, and in it the stage that ends there.
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "cachebisect/format/csv_text.hpp"
#include "cachebisect/report/words/span_of.hpp"
#include "cachebisect/report/writers.hpp"

namespace cachebisect {
namespace {

/// Boundary k and stage k; boundary 0 has no stage.
struct Row {
  const Report& report;
  const BoundaryReport& boundary;
  const StageReport* stage;
  const SpanReport* span;  ///< that holds the stage
};

struct Column {
  const char* title;
  std::string (*cell)(const Row& row);
};

std::string yes_or_no(bool value) { return value ? "true" : "false"; }

std::string low(const Estimate& estimate) {
  return csv_number(estimate.interval ? std::optional(estimate.interval->low) : std::nullopt);
}

std::string high(const Estimate& estimate) {
  return csv_number(estimate.interval ? std::optional(estimate.interval->high) : std::nullopt);
}

/// A cell of the stage; empty in the row of boundary 0.
template <class Cell>
std::string of_stage(const Row& row, const Cell& cell) {
  return row.stage == nullptr ? "" : cell(*row.stage);
}

template <auto Member>
std::string stage_text(const Row& row) {
  return of_stage(row, [](const StageReport& stage) { return csv_text(stage.*Member); });
}

template <auto Member>
std::string stage_number(const Row& row) {
  return of_stage(row, [](const StageReport& stage) { return csv_number(stage.*Member); });
}

template <auto Member>
std::string stage_flag(const Row& row) {
  return of_stage(row, [](const StageReport& stage) { return yes_or_no(stage.*Member); });
}

template <auto Member>
std::string stage_value(const Row& row) {
  return of_stage(row, [](const StageReport& stage) { return csv_number((stage.*Member).value); });
}

template <auto Member>
std::string stage_low(const Row& row) {
  return of_stage(row, [](const StageReport& stage) { return low(stage.*Member); });
}

template <auto Member>
std::string stage_high(const Row& row) {
  return of_stage(row, [](const StageReport& stage) { return high(stage.*Member); });
}

/// A cell of the span that holds the stage; empty if it was measured alone.
template <class Cell>
std::string of_span(const Row& row, const Cell& cell) {
  return row.span == nullptr ? "" : cell(*row.span);
}

// docs/use/report.md, "As CSV", says what each column is.
using S = StageReport;
constexpr std::array kCsvColumns{
    Column{"started", [](const Row& r) { return csv_text(r.report.started); }},
    Column{"pipeline", [](const Row& r) { return csv_text(r.report.chain.name); }},
    Column{"device", [](const Row& r) { return csv_text(r.report.chain.device_name); }},
    Column{"batch_size",
           [](const Row& r) { return csv_number(static_cast<double>(r.report.chain.batch_size)); }},
    Column{"workers", [](const Row& r) { return csv_number(r.report.chain.workers); }},
    Column{"boundary", [](const Row& r) { return csv_number(r.boundary.index); }},
    Column{"stage", stage_text<&S::name>},
    Column{"type", stage_text<&S::type>},
    Column{"samples_per_second",
           [](const Row& r) { return csv_number(r.boundary.samples_per_second.value); }},
    Column{"samples_per_second_low",
           [](const Row& r) { return low(r.boundary.samples_per_second); }},
    Column{"samples_per_second_high",
           [](const Row& r) { return high(r.boundary.samples_per_second); }},
    Column{"predicted_samples_per_second",
           [](const Row& r) { return csv_number(r.boundary.predicted_samples_per_second); }},
    Column{"drop", stage_value<&S::drop>},
    Column{"drop_low", stage_low<&S::drop>},
    Column{"drop_high", stage_high<&S::drop>},
    Column{"certified", stage_flag<&S::certified>},
    Column{"bursty", stage_flag<&S::bursty>},
    Column{"span", stage_text<&S::span>},
    Column{"span_drop",
           [](const Row& r) {
             return of_span(r, [](const SpanReport& s) { return csv_number(s.drop.value); });
           }},
    Column{
        "span_drop_low",
        [](const Row& r) { return of_span(r, [](const SpanReport& s) { return low(s.drop); }); }},
    Column{
        "span_drop_high",
        [](const Row& r) { return of_span(r, [](const SpanReport& s) { return high(s.drop); }); }},
    Column{"span_certified",
           [](const Row& r) {
             return of_span(r, [](const SpanReport& s) { return yes_or_no(s.certified); });
           }},
    Column{"payoff_samples_per_second", stage_value<&S::payoff>},
    Column{"payoff_samples_per_second_low", stage_low<&S::payoff>},
    Column{"payoff_samples_per_second_high", stage_high<&S::payoff>},
    Column{"seconds_per_sample", stage_number<&S::seconds_per_sample>},
    Column{"cpu_seconds_per_sample", stage_number<&S::cpu_seconds_per_sample>},
    Column{"wait_seconds_per_sample", stage_number<&S::wait_seconds_per_sample>},
    Column{"busy_share", stage_number<&S::busy_share>},
    Column{"output_bytes", stage_number<&S::output_bytes>},
    Column{"blocks", [](const Row& r) { return csv_number(r.boundary.blocks); }},
};

std::string heading() {
  std::vector<std::string> titles;
  titles.reserve(kCsvColumns.size());
  for (const Column& column : kCsvColumns) titles.emplace_back(column.title);
  return csv_row(titles);
}

std::string row_text(const Row& row) {
  std::vector<std::string> cells;
  cells.reserve(kCsvColumns.size());
  for (const Column& column : kCsvColumns) cells.push_back(column.cell(row));
  return csv_row(cells);
}

}  // namespace

std::string to_csv(const Report& report) {
  std::string text = heading();
  for (std::size_t k = 0; k < report.boundaries.size(); ++k) {
    const StageReport* const stage =
        k > 0 && k <= report.stages.size() ? &report.stages[k - 1] : nullptr;
    text += row_text({report, report.boundaries[k], stage,
                      stage == nullptr ? nullptr : span_of(report, *stage)});
  }
  return text;
}

}  // namespace cachebisect
