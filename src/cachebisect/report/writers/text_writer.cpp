// The terminal report: 80 columns, readable without colour.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/format/figure_text.hpp"
#include "cachebisect/format/text_layout.hpp"
#include "cachebisect/format/text_page.hpp"
#include "cachebisect/report/words/boundary_rows.hpp"
#include "cachebisect/report/words/job_text.hpp"
#include "cachebisect/report/words/printable_report.hpp"
#include "cachebisect/report/words/reading_text.hpp"
#include "cachebisect/report/words/remedy_text.hpp"
#include "cachebisect/report/words/text_consequences.hpp"
#include "cachebisect/report/words/text_explain.hpp"
#include "cachebisect/report/words/what_if_text.hpp"
#include "cachebisect/report/writers.hpp"

namespace cachebisect {
namespace {

/// Bars grow with the terminal, and shrink to this before the names of stages are clipped.
constexpr int kLeastBars = 4;
int bar_columns(int columns) { return std::clamp(10 + (columns - 80) / 2, 10, 40); }

/// What is measured, in one line if it fits.
std::string name_lines(const ChainDescription& chain, const TextPaint& paint, int columns) {
  const std::string file = chain.file != chain.name ? chain.file : "";
  const std::string generated = chain.generated_data ? "(generated data)" : "";
  std::string line = paint.bold(chain.name);
  for (const std::string& part : {file, generated}) {
    if (!part.empty()) line += "  " + part;
  }
  if (display_width(line) <= static_cast<std::size_t>(columns)) return line + "\n";
  std::string lines = wrap(paint.bold(chain.name), columns, 2);
  for (const std::string& part : {file, generated}) {
    if (!part.empty()) lines += wrap("  " + part, columns, 2);
  }
  return lines;
}

std::string heading(const Report& report, const TextPaint& paint, int columns) {
  const ChainDescription& chain = report.chain;
  std::string lines = name_lines(chain, paint, columns) + wrap(job_text(chain), columns, 2);
  const std::string interrupted = report.interrupted ? paint.bold("  (interrupted)") : "";
  lines += wrap(rounds_text(report) + interrupted, columns, 2);
  if (report.settings.order_nonce) {
    lines += "reading began at --nonce " + std::to_string(*report.settings.order_nonce) + '\n';
  }
  return lines;
}

void add_boundary_row(TextTable& table, const BoundaryRow& row, const TextPaint& paint, int bars) {
  if (!row.rate) {
    table.add({row.label, "-", "too few rounds", "", "", ""});
    return;
  }
  const std::string drawn = row.drop ? paint.bar(*row.drop, bars) : "";
  table.add({row.label, format_rate(*row.rate, row.interval),
             rate_interval(*row.interval, paint.dash()),
             row.share ? format_percent(*row.share) : "", row.drop ? format_percent(*row.drop) : "",
             paint.loss(drawn) + (drawn.empty() || row.note.empty() ? "" : " ") + row.note});
}

TextTable table_of(const std::vector<BoundaryRow>& rows, const Report& report,
                   const TextPaint& paint, int bars) {
  const std::string confidence = format_percent(report.settings.confidence);
  TextTable table({{"stages live", Align::left, true},
                   {"samples/s", Align::right},
                   {confidence + " interval", Align::right},
                   {"of ceiling", Align::right},
                   {"lost here", Align::right},
                   {"", Align::left}});
  for (const BoundaryRow& row : rows) add_boundary_row(table, row, paint, bars);
  return table;
}

/// With the longest bars that fit.
TextTable fitted_table(const std::vector<BoundaryRow>& rows, const Report& report,
                       const TextPaint& paint, int columns) {
  int bars = bar_columns(columns);
  TextTable table = table_of(rows, report, paint, bars);
  while (table.width() > columns && bars > kLeastBars) {
    table = table_of(rows, report, paint, --bars);
  }
  return table;
}

/// Takes the note out of the rows.
std::string note_below(std::vector<BoundaryRow>& rows, int columns) {
  std::string lines;
  for (BoundaryRow& row : rows) {
    const std::string note = std::exchange(row.note, "");
    if (!note.empty()) lines += wrap("(The copy reaches " + note + ".)", columns, 1);
  }
  return lines;
}

std::string reading_note(const Report& report, int columns) {
  const std::string reading = reading_text(report);
  return reading.empty() ? "" : wrap("(Reading takes " + reading + ".)", columns, 1);
}

std::string boundary_table(const Report& report, const TextPaint& paint, int columns) {
  if (report.boundaries.empty()) return "";
  std::vector<BoundaryRow> rows = boundary_rows(report);
  const std::string reading = reading_note(report, columns);
  const TextTable table = fitted_table(rows, report, paint, columns);
  if (table.width() <= columns) return table.to_text(paint, columns) + reading;
  const std::string note = note_below(rows, columns);
  return fitted_table(rows, report, paint, columns).to_text(paint, columns) + note + reading;
}

std::string remedies(const Report& report, const TextPaint& paint, int columns) {
  if (report.remedies.empty()) return "";
  std::string text = paint.bold("Things to try") + "\n";
  const std::string caution = remedies_caution(report.remedies);
  if (!caution.empty()) text += wrap(caution, columns, 0);
  int number = 1;
  for (const Remedy& remedy : report.remedies) {
    text += wrap(std::to_string(number++) + ". " + as_sentence(remedy.text), columns, 3);
    text += wrap("   " + as_sentence(remedy.reason), columns, 3);
    const std::string gain = remedy_gain(remedy);
    if (!gain.empty()) text += wrap("     " + gain, columns, 7);
    for (const std::string& flag : remedy.flags) text += wrap("     " + flag, columns, 7);
    for (const Edit& edit : remedy.edits) text += wrap("     " + edit_text(edit), columns, 7);
    for (const std::string& line : remedy.lines) text += wrap("     " + line, columns, 7);
  }
  return text;
}

std::string warnings(const Report& report, const TextPaint& paint, int columns) {
  std::string text;
  for (const Warning& warning : report.warnings) {
    text += wrap(paint.warning("warning") + ": " + as_sentence(warning.text) +
                     (warning.remedy.empty() ? "" : " " + as_sentence(warning.remedy)),
                 columns, 2);
    for (const std::string& line : warning.details) text += wrap("    " + line, columns, 4);
  }
  return text;
}

}  // namespace

std::string to_text(const Report& raw, const TextOptions& options) {
  const Report report = printable_report(raw);
  const TextPage page(options);
  const TextPaint& paint = page.paint;
  const int columns = page.prose;
  std::string text = heading(report, paint, columns);
  const auto add = [&text](const std::string& part) {
    if (!part.empty()) text += "\n" + part;
  };
  add(boundary_table(report, paint, page.columns));
  add(wrap(paint.bold(report.verdict.text), columns, 0));
  text += consequences_text(report, columns);
  add(what_if_table(report, paint, columns));
  add(remedies(report, paint, columns));
  add(warnings(report, paint, columns));
  if (options.explain) add(explain_text(report, paint, columns));
  return text;
}

}  // namespace cachebisect
