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

}  // namespace

std::string what_if_remark(const WhatIfResult& what_if, const Estimate& live) {
  const std::string gain = what_if_gain(what_if, live);
  return gain + (gain.empty() || what_if.note.empty() ? "" : "; ") + what_if.note;
}

Document what_ifs_document(const Report& report) {
  const bool verified =
      std::any_of(report.what_ifs.begin(), report.what_ifs.end(),
                  [](const WhatIfResult& what_if) { return what_if.measured.value.has_value(); });
  document::Table table{
      .columns = {{"what if, samples/s"}, {"predicted (interval)", Align::right}}};
  if (verified) table.columns.push_back({"measured (interval)", Align::right});
  Document notes;
  for (const WhatIfResult& what_if : report.what_ifs) {
    document::Row row{what_if.change, rate_with_interval(what_if.predicted)};
    if (verified) row.emplace_back(rate_with_interval(what_if.measured));
    table.rows.push_back(std::move(row));
    const std::string remark = what_if_remark(what_if, report.live);
    if (!remark.empty()) notes.say("  " + what_if.change + ": " + remark + ".", 4);
    if (!what_if.line.empty()) notes.say("    " + what_if.line, 6);
  }
  Document all;
  all.add(std::move(table));
  all.add(notes);
  return all;
}

}  // namespace cachebisect
