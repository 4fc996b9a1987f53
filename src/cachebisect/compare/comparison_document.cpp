// A comparison for a terminal and as Markdown: the same parts, in the order in which each is read.
#include <initializer_list>
#include <utility>
#include <vector>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/compare/change_text.hpp"
#include "cachebisect/compare/comparison_words.hpp"
#include "cachebisect/compare/comparison_writers.hpp"
#include "cachebisect/format/document/render.hpp"

namespace cachebisect {
namespace {

using Items = std::vector<document::Item>;

document::List list_of(std::initializer_list<Items> parts) {
  document::List all;
  for (const Items& part : parts) all.items.insert(all.items.end(), part.begin(), part.end());
  return all;
}

Items compared_jobs(const Comparison& comparison) {
  return {
      {"A " + job_line(comparison.a)}, {"B " + job_line(comparison.b)}, {method_line(comparison)}};
}

document::Table compared_figures(const Comparison& comparison) {
  document::Table table{.columns = {{""},
                                    {"A", Align::right},
                                    {"B", Align::right},
                                    {"change", Align::right},
                                    {format_percent(comparison.confidence) + " interval"}}};
  for (const ComparedFigure& figure : comparison.figures) {
    if (!is_shown(figure)) continue;
    table.rows.push_back({figure_name(figure), figure_text(figure.a, figure.unit),
                          figure_text(figure.b, figure.unit), short_change_text(figure),
                          interval_text(figure)});
  }
  return table;
}

Items finding_items(const Comparison& comparison) {
  Items items;
  for (const std::string& finding : comparison.findings) {
    items.push_back({document::strong(as_sentence(finding))});
  }
  return items;
}

Items remark_items(const Comparison& comparison) {
  Items items;
  for (const std::string& note : remarks(comparison)) {
    items.push_back({document::warning("note") + ": " + note});
  }
  return items;
}

Items gate_items(const Comparison& comparison) {
  Items items;
  for (const GateResult& gate : comparison.gates) items.push_back({gate_line(gate)});
  return items;
}

}  // namespace

std::string to_text(const Comparison& comparison, const TextOptions& options) {
  Document all;
  all.add(list_of({compared_jobs(comparison)}));
  all.gap();
  all.add(compared_figures(comparison));
  all.gap();
  all.add(list_of({finding_items(comparison), remark_items(comparison), gate_items(comparison)}));
  return to_text(all, options);
}

std::string to_markdown(const Comparison& comparison) {
  Document all;
  all.add(document::Heading{"cachebisect compare"});
  all.add(list_of({finding_items(comparison), gate_items(comparison)}));
  all.add(compared_figures(comparison));
  all.add(list_of({compared_jobs(comparison), remark_items(comparison)}));
  return to_markdown(all);
}

}  // namespace cachebisect
