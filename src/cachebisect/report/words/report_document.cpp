#include "cachebisect/report/words/report_document.hpp"

#include <optional>
#include <string>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/format/figure_text.hpp"
#include "cachebisect/report/words/boundary_rows.hpp"
#include "cachebisect/report/words/explained_numbers.hpp"
#include "cachebisect/report/words/reading_text.hpp"
#include "cachebisect/report/words/text_consequences.hpp"

namespace cachebisect {
namespace {

std::string share_or_nothing(const std::optional<double>& share) {
  return share ? format_percent(*share) : "";
}

document::Row cells_of(const BoundaryRow& row) {
  if (!row.rate) return {row.label, "-", "too few rounds", "", "", ""};
  const Interval& interval = *row.interval;
  return {
      row.label,
      format_rate(*row.rate, interval),
      format_rate(interval.low, interval) + document::dash() + format_rate(interval.high, interval),
      share_or_nothing(row.share),
      share_or_nothing(row.drop),
      (row.drop ? document::loss_bar(*row.drop) : document::Text()) + row.note};
}

}  // namespace

document::Table boundary_table(const Report& report) {
  const std::string interval = format_percent(report.settings.confidence) + " interval";
  document::Table table{.columns = {{"stages live", Align::left, true},
                                    {"samples/s", Align::right},
                                    {interval, Align::right},
                                    {"of ceiling", Align::right},
                                    {"lost here", Align::right},
                                    {.title = "note", .sentence = "The copy reaches", .bars = 10}},
                        .caption = "Throughput with more and more stages live"};
  for (const BoundaryRow& row : boundary_rows(report)) table.rows.push_back(cells_of(row));
  const std::string reading = reading_text(report);
  if (!reading.empty()) table.note = "Reading takes " + reading + ".";
  return table;
}

Document consequences_document(const Report& report) {
  Document all;
  for (const std::string& sentence : consequences(report)) all.say(sentence);
  return all;
}

Document explained_document(const Report& report) {
  document::List numbers;
  for (const ExplainedNumber& number : explain_numbers(report)) {
    numbers.items.push_back({number.meaning, number.number});
  }
  Document all;
  all.add(std::move(numbers));
  all.say(explain_missing(report));
  return all;
}

}  // namespace cachebisect
