// The report as one page of Markdown, made to be pasted into an issue or a prompt.
#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/advice/remedies.hpp"
#include "cachebisect/format/document/render.hpp"
#include "cachebisect/format/figure_text.hpp"
#include "cachebisect/report/words/remedy_text.hpp"
#include "cachebisect/report/words/report_document.hpp"
#include "cachebisect/report/words/what_if_text.hpp"
#include "cachebisect/report/writers.hpp"
#include "cachebisect/report/writers/markdown_run.hpp"

namespace cachebisect {
namespace {

/// A section of one block.
Document only(document::Block block) {
  Document all;
  all.add(std::move(block));
  return all;
}

document::Table stages_table(const Report& report) {
  document::Table table{.columns = {{"stage"},
                                    {"type"},
                                    {"CPU per sample", Align::right},
                                    {"waiting per sample", Align::right},
                                    {"of the workers' time", Align::right},
                                    {"output per sample", Align::right},
                                    {"samples/s with it alone free", Align::right}}};
  const auto time = [](const std::optional<double>& seconds) {
    return seconds ? short_duration(*seconds) : "-";
  };
  for (const StageReport& stage : report.stages) {
    table.rows.push_back({stage.name, stage.type, time(stage.cpu_seconds_per_sample),
                          time(stage.wait_seconds_per_sample),
                          stage.busy_share ? format_percent(*stage.busy_share) : "-",
                          stage.output_bytes ? format_bytes(*stage.output_bytes) : "-",
                          rate_with_interval(stage.payoff)});
  }
  return table;
}

std::vector<std::string> lines_of(const Remedy& remedy) {
  std::vector<std::string> lines = remedy.flags;
  for (const Edit& edit : remedy.edits) lines.push_back(edit_text(edit));
  lines.insert(lines.end(), remedy.lines.begin(), remedy.lines.end());
  return lines;
}

Document remedies_list(const Report& report) {
  document::List list{.items = {}, .numbered = true};
  for (const Remedy& remedy : first_remedies(report.remedies)) {
    const std::string gain = remedy_gain(remedy);
    list.items.push_back({as_sentence(remedy.text) + ' ' + as_sentence(remedy.reason) +
                              (gain.empty() ? "" : " " + as_sentence(gain)),
                          "", lines_of(remedy)});
  }
  Document all;
  all.say(remedies_caution(report.remedies));
  all.add(std::move(list));
  return all;
}

document::List warnings_list(const Report& report) {
  document::List list;
  for (const Warning& warning : report.warnings) {
    const std::string remedy = warning.remedy.empty() ? "" : " " + as_sentence(warning.remedy);
    list.items.push_back(
        {warning.code + ": " + as_sentence(warning.text) + remedy, "", warning.details});
  }
  return list;
}

}  // namespace

std::string to_markdown(const Report& report, const MarkdownOptions& options) {
  Document all;
  all.add(document::Heading{"Input pipeline " + report.chain.name, 2});
  all.say(document::strong(report.verdict.text));
  if (report.interrupted) {
    all.say("The run was interrupted; these are the figures until then.");
  }
  all.add(consequences_document(report));
  all.add(boundary_table(report));
  all.section("Stages, live", only(stages_table(report)));
  all.section("What was tried", only(what_if_table(report)));
  all.section("Things to try", remedies_list(report));
  all.section("Warnings", only(warnings_list(report)));
  if (options.explain) all.section("What the numbers mean", explained_document(report));
  all.section("What was run", only(run_table(report)));
  all.section("The pipeline with its defaults", only(pipeline_code(report)));
  return to_markdown(all);
}

}  // namespace cachebisect
