// A comparison as Markdown.
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/compare/change_text.hpp"
#include "cachebisect/compare/comparison_words.hpp"
#include "cachebisect/compare/comparison_writers.hpp"
#include "cachebisect/format/markdown_text.hpp"
#include "cachebisect/format/text_layout.hpp"

namespace cachebisect {
namespace {

std::string row(const ComparedFigure& figure) {
  std::string text = "| " + markdown_cell(figure_name(figure));
  for (const std::string& cell :
       {figure_text(figure.a, figure.unit), figure_text(figure.b, figure.unit),
        short_change_text(figure), interval_text(figure)}) {
    text += " | " + markdown_cell(cell);
  }
  return text + " |\n";
}

std::string markdown_table(const Comparison& comparison) {
  std::string text = "| | A | B | change | " + format_percent(comparison.confidence) +
                     " interval |\n|---|---:|---:|---:|---|\n";
  for (const ComparedFigure& figure : comparison.figures) {
    if (is_shown(figure)) text += row(figure);
  }
  return text;
}

std::string item(const std::string& text) { return "- " + markdown_text(text) + "\n"; }

}  // namespace

std::string to_markdown(const Comparison& comparison) {
  std::string text = "### cachebisect compare\n\n";
  for (const std::string& finding : comparison.findings) text += item(as_sentence(finding));
  for (const GateResult& gate : comparison.gates) text += item(gate_line(gate));
  text += "\n" + markdown_table(comparison) + "\n";
  text += item("A " + job_line(comparison.a)) + item("B " + job_line(comparison.b));
  text += item(method_line(comparison));
  for (const std::string& note : remarks(comparison)) text += item(note);
  return text;
}

}  // namespace cachebisect
