// A comparison for a terminal.
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/printable.hpp"
#include "cachebisect/compare/change_text.hpp"
#include "cachebisect/compare/comparison_words.hpp"
#include "cachebisect/compare/comparison_writers.hpp"
#include "cachebisect/format/text_page.hpp"

namespace cachebisect {
namespace {

std::string line(const std::string& text, const TextPage& page) {
  return wrap(printable(text), page.prose, 2);
}

std::string text_table(const Comparison& comparison, const TextPage& page) {
  TextTable table({{"", Align::left},
                   {"A", Align::right},
                   {"B", Align::right},
                   {"change", Align::right},
                   {format_percent(comparison.confidence) + " interval", Align::left}});
  for (const ComparedFigure& figure : comparison.figures) {
    if (!is_shown(figure)) continue;
    table.add({printable(figure_name(figure)), figure_text(figure.a, figure.unit),
               figure_text(figure.b, figure.unit), short_change_text(figure),
               interval_text(figure)});
  }
  return table.to_text(page.paint, page.columns);
}

}  // namespace

std::string to_text(const Comparison& comparison, const TextOptions& options) {
  const TextPage page(options);
  std::string text =
      line("A " + job_line(comparison.a), page) + line("B " + job_line(comparison.b), page);
  text += line(method_line(comparison), page) + "\n" + text_table(comparison, page) + "\n";
  for (const std::string& finding : comparison.findings) {
    text += wrap(page.paint.bold(printable(as_sentence(finding))), page.prose, 2);
  }
  for (const std::string& note : remarks(comparison)) {
    text += wrap(page.paint.warning("note") + ": " + printable(note), page.prose, 2);
  }
  for (const GateResult& gate : comparison.gates) text += line(gate_line(gate), page);
  return text;
}

}  // namespace cachebisect
