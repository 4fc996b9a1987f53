// Everything that is known of each stage.
#include <string>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/format/document/render.hpp"
#include "cachebisect/format/html/elements.hpp"
#include "cachebisect/format/html/figures.hpp"
#include "cachebisect/report/html/sections.hpp"
#include "cachebisect/report/words/span_of.hpp"

namespace cachebisect::html {
namespace {

std::string remarks(const StageReport& stage) {
  std::string all;
  const auto add = [&all](const std::string& remark) { all += (all.empty() ? "" : ", ") + remark; };
  if (stage.certified) add("drop certified");
  if (!stage.span.empty()) add(stage.span);
  if (stage.random) add("random");
  if (stage.bursty) add("bursty");
  if (stage.padding_share) add(format_percent(*stage.padding_share) + " padding");
  if (stage.copy_gb_per_s) {
    add(format_number(*stage.copy_gb_per_s) + " GB/s" +
        (stage.copy_share ? ", " + format_percent(*stage.copy_share) + " of the peak" : ""));
  }
  return all;
}

/// "drop certified, bursty".
std::string remarks(const SpanReport& span) {
  if (!span.certified) return span.bursty ? "bursty" : "";
  return span.bursty ? "drop certified, bursty" : "drop certified";
}

/// The share that is lost, and the time that it adds.
template <class Measured>
document::Row losses(const Measured& of) {
  if (!of.drop.interval) return {kTooFewRounds, kTooFewRounds};
  return {share_figure(of.drop), time_figure(of.seconds_per_sample)};
}

/// The figures that its stages have together, below the last of them.
document::Row span_row(const SpanReport& span) {
  const document::Row lost = losses(span);
  return {span.name, lost[0], lost[1], "", "", "", "", "", remarks(span)};
}

document::Row stage_row(const StageReport& stage) {
  const document::Row lost = losses(stage);
  return {document::named(stage.name) + document::below_it(stage.type),
          lost[0],
          lost[1],
          time_figure(stage.cpu_seconds_per_sample),
          time_figure(stage.wait_seconds_per_sample),
          share_figure(stage.busy_share),
          bytes_figure(stage.output_bytes),
          rate_figure(stage.payoff),
          remarks(stage)};
}

document::Table stages_table(const Report& report) {
  document::Table table{
      .columns = {{"stage"},
                  {"lost here", Align::right},
                  {"time it adds", Align::right},
                  {"CPU time", Align::right},
                  {"waiting", Align::right},
                  {"busy", Align::right},
                  {"output", Align::right},
                  {"samples/s with it alone free", Align::right},
                  {"remarks"}},
      .caption = "Times and output are per sample; busy is the share of the workers' time"};
  for (const StageReport& stage : report.stages) {
    table.rows.push_back(stage_row(stage));
    const SpanReport* const span = span_of(report, stage);
    if (span != nullptr && span->last == stage.index) table.rows.push_back(span_row(*span));
  }
  return table;
}

}  // namespace

Html stages_section(const Report& report) {
  if (report.stages.empty()) return {};
  Document stages;
  stages.add(stages_table(report));
  return section("stages", "The stages", to_html(stages));
}

}  // namespace cachebisect::html
