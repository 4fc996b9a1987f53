// A comparison as Markdown.
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/compare/change_text.hpp"
#include "cachebisect/compare/comparison_words.hpp"
#include "cachebisect/compare/comparison_writers.hpp"
#include "cachebisect/format/markdown_table.hpp"
#include "cachebisect/format/markdown_text.hpp"
#include "cachebisect/format/text_layout.hpp"

namespace cachebisect {
namespace {

std::string markdown_table(const Comparison& comparison) {
  MarkdownTable table({{""},
                       {"A", Align::right},
                       {"B", Align::right},
                       {"change", Align::right},
                       {format_percent(comparison.confidence) + " interval"}});
  for (const ComparedFigure& figure : comparison.figures) {
    if (!is_shown(figure)) continue;
    table.add({figure_name(figure), figure_text(figure.a, figure.unit),
               figure_text(figure.b, figure.unit), short_change_text(figure),
               interval_text(figure)});
  }
  return table.to_text();
}

std::string item(const std::string& text) { return "- " + markdown_text(text) + "\n"; }

}  // namespace

std::string to_markdown(const Comparison& comparison) {
  std::string text = "### cachebisect compare\n\n";
  for (const std::string& finding : comparison.findings) {
    text += "- **" + markdown_text(as_sentence(finding)) + "**\n";
  }
  for (const GateResult& gate : comparison.gates) text += item(gate_line(gate));
  text += "\n" + markdown_table(comparison) + "\n";
  text += item("A " + job_line(comparison.a)) + item("B " + job_line(comparison.b));
  text += item(method_line(comparison));
  for (const std::string& note : remarks(comparison)) {
    text += "- **note**: " + markdown_text(note) + '\n';
  }
  return text;
}

}  // namespace cachebisect
