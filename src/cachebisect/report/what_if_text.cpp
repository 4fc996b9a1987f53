#include "cachebisect/report/what_if_text.hpp"

#include <algorithm>

#include "cachebisect/base/number_format.hpp"

namespace cachebisect {
namespace {

/// "2,480 (2,455 - 2,505)"; "-" if it is not known.
std::string rate_with_interval(const Estimate& estimate) {
  if (!estimate.value) return "-";
  std::string text = format_rate(*estimate.value, estimate.interval);
  if (!estimate.interval) return text;
  return text + " (" + format_rate(estimate.interval->low, estimate.interval) + " - " +
         format_rate(estimate.interval->high, estimate.interval) + ")";
}

std::string gain(const std::optional<double>& rate, const char* how) {
  return rate ? format_rate(*rate, std::nullopt) + " samples/s (" + how + ")" : "";
}

}  // namespace

std::string remedy_gain(const Remedy& remedy) {
  const std::string predicted = gain(remedy.predicted, "predicted");
  const std::string measured = gain(remedy.measured, "measured");
  if (predicted.empty() && measured.empty()) return "";
  return "gains " + predicted + (predicted.empty() || measured.empty() ? "" : ", ") + measured;
}

std::string what_if_table(const Report& report, const TextPaint& paint, int columns) {
  if (report.what_ifs.empty()) return "";
  const bool verified =
      std::any_of(report.what_ifs.begin(), report.what_ifs.end(),
                  [](const WhatIfResult& what_if) { return what_if.measured.value.has_value(); });
  std::vector<TextTable::Column> titles{{"what if, samples/s", Align::left},
                                        {"predicted (interval)", Align::right}};
  if (verified) titles.push_back({"measured (interval)", Align::right});
  TextTable table(titles);
  std::string notes;
  for (const WhatIfResult& what_if : report.what_ifs) {
    std::vector<std::string> row{what_if.change, rate_with_interval(what_if.predicted)};
    if (verified) row.push_back(rate_with_interval(what_if.measured));
    table.add(row);
    if (!what_if.note.empty()) {
      notes += wrap("  " + what_if.change + ": " + what_if.note + ".", columns, 4);
    }
  }
  return table.to_text(paint) + notes;
}

}  // namespace cachebisect
