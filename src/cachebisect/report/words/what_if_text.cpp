#include "cachebisect/report/words/what_if_text.hpp"

#include <algorithm>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/format/html/figures.hpp"

namespace cachebisect {
namespace {

/// The change of throughput, relative to live.
Interval relative(const Interval& rates, double live) {
  return {rates.low / live - 1, rates.high / live - 1};
}

/// "gains 34% (31 to 36%), measured"; empty without a figure.
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

/// A figure without an interval is not shown.
std::string rate_cell(const Estimate& rate) {
  const std::string figure = html::rate_figure(rate);
  return figure == html::kNotMeasured ? "-" : figure;
}

}  // namespace

document::Table what_if_table(const Report& report) {
  const auto any = [&report](const auto& holds) {
    return std::ranges::any_of(report.what_ifs, holds);
  };
  const bool verified = any([](const WhatIfResult& w) { return w.measured.value.has_value(); });
  const bool in_code = any([](const WhatIfResult& w) { return !w.line.empty(); });
  document::Table table{.columns = {{"what if, samples/s"}, {"predicted (interval)", Align::right}},
                        .caption = "Samples/s after each change"};
  if (verified) table.columns.push_back({"measured (interval)", Align::right});
  table.columns.push_back({.title = "so", .below = true});
  if (in_code) table.columns.push_back({.title = "in code", .below = true});
  for (const WhatIfResult& what_if : report.what_ifs) {
    document::Row row{document::named(what_if.change), rate_cell(what_if.predicted)};
    if (verified) row.emplace_back(rate_cell(what_if.measured));
    const std::string gain = what_if_gain(what_if, report.live);
    row.emplace_back(gain + (gain.empty() || what_if.note.empty() ? "" : "; ") + what_if.note);
    if (in_code) row.push_back(document::to_copy(what_if.line));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace cachebisect
