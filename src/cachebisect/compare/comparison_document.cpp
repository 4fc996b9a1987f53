// A comparison for a terminal and as Markdown: the same parts, in the order in which each is read.
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/compare/change_text.hpp"
#include "cachebisect/compare/comparison_writers.hpp"
#include "cachebisect/format/document/render.hpp"
#include "cachebisect/format/text_layout.hpp"

namespace cachebisect {
namespace {

constexpr std::size_t kMaxName = 60;

/// "main.json: cifar, device cpu, batch 128, 2 workers".
std::string job_line(const ComparedJob& job) {
  return clipped(job.source, kMaxName) + ": " + clipped(job.pipeline, kMaxName) + ", device " +
         clipped(job.device, kMaxName) + ", batch " + std::to_string(job.batch_size) + ", " +
         std::to_string(job.workers) + (job.workers == 1 ? " worker" : " workers");
}

/// How the two were measured.
std::string method_line(const Comparison& comparison) {
  if (!comparison.paired) return "Measured in two sessions.";
  return "Measured in turns, in " + std::to_string(comparison.rounds) + " pairs of blocks (" +
         format_seconds(comparison.seconds) + ").";
}

/// "crop: drop" of stages.crop.drop.
std::string figure_name(const ComparedFigure& figure) {
  if (figure.stage.empty()) return figure.id;
  return figure.stage + ": " + figure.id.substr(figure.id.rfind('.') + 1);
}

/// Whether the table has a row for it: either value is known.
bool is_shown(const ComparedFigure& figure) {
  return figure.a.value.has_value() || figure.b.value.has_value();
}

/// What makes the comparison less certain than it looks.
std::vector<std::string> remarks(const Comparison& comparison) {
  std::vector<std::string> all;
  for (const std::string& mismatch : comparison.mismatches) {
    all.push_back("not comparable, but forced: " + mismatch);
  }
  for (const std::string& note : comparison.notes) all.push_back(note);
  for (const std::string& noise : comparison.noise) {
    all.push_back("the machine was not steady (" + noise + ")");
  }
  return all;
}

/// "gate live<-5%: fired, -12% (-15 to -9.3%)".
std::string gate_line(const GateResult& gate) {
  const char* const outcome =
      gate.outcome == GateOutcome::undecided ? "not decided" : to_string(gate.outcome);
  return "gate " + gate.gate + ": " + outcome + ", " + gate.reason;
}

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
