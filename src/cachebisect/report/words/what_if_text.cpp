#include "cachebisect/report/words/what_if_text.hpp"

#include <algorithm>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/format/figure_text.hpp"

namespace cachebisect {
namespace {

/// The change of throughput, relative to live.
Interval relative(const Interval& rates, double live) {
  return {rates.low / live - 1, rates.high / live - 1};
}

/// What a change gains, what to know of it, and the line that makes it.
std::string in_words(const WhatIfResult& what_if, const Estimate& live, int columns) {
  std::string text = what_if_gain(what_if, live);
  if (!what_if.note.empty()) text += (text.empty() ? "" : "; ") + what_if.note;
  std::string out;
  if (!text.empty()) out += wrap("  " + what_if.change + ": " + text + ".", columns, 4);
  if (!what_if.line.empty()) out += wrap("    " + what_if.line, columns, 6);
  return out;
}

}  // namespace

std::string what_if_gain(const WhatIfResult& what_if, const Estimate& live) {
  const bool measured = what_if.measured.value.has_value();
  const Estimate& after = measured ? what_if.measured : what_if.predicted;
  if (!after.value || !after.interval || !live.value || *live.value <= 0) return {};
  const double change = *after.value / *live.value - 1;
  const Interval range = relative(*after.interval, *live.value);
  const std::string how = measured ? ", measured" : ", predicted";
  if (range.low > 0) {
    return "gains " + format_percent(change) + " (" + percent_range(range) + ")" + how;
  }
  if (range.high < 0) {
    return "loses " + format_percent(-change) + " (" + percent_range({-range.high, -range.low}) +
           ")" + how;
  }
  return "no certain gain: from a loss of " + format_percent(-range.low) + " to a gain of " +
         format_percent(range.high) + how;
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
    notes += in_words(what_if, report.live, columns);
  }
  return table.to_text(paint, columns) + notes;
}

}  // namespace cachebisect
