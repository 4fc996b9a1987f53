// Everything that is known of each stage.
#include <string>
#include <vector>

#include "cachebisect/base/number_format.hpp"
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

/// The figures that its stages have together, below the last of them.
std::vector<Html> span_row(const SpanReport& span) {
  const bool known = span.drop.interval.has_value();
  return {text(span.name),
          figure(known ? share_figure(span.drop) : kTooFewRounds),
          figure(known ? time_figure(span.seconds_per_sample) : kTooFewRounds),
          {},
          {},
          {},
          {},
          {},
          text(std::string(span.certified ? "drop certified" : "") +
               (span.certified && span.bursty ? ", " : "") + (span.bursty ? "bursty" : ""))};
}

}  // namespace

Html stages_section(const Report& report) {
  if (report.stages.empty()) return {};
  Table table("Times and output are per sample; busy is the share of the workers' time",
              {"Stage", "Lost here", "Time it adds", "CPU time", "Waiting", "Busy", "Output",
               "Samples/s with it alone free", "<Remarks"});
  const auto after = [&](const StageReport& stage) {
    const SpanReport* const span = span_of(report, stage);
    if (span != nullptr && span->last == stage.index) table.add(span_row(*span));
  };
  for (const StageReport& stage : report.stages) {
    const bool known = stage.drop.interval.has_value();
    table.add({name(stage.name) + Html::ours("<br>") +
                   element("span", {{"class", "note"}}, name(stage.type)),
               figure(known ? share_figure(stage.drop) : kTooFewRounds),
               figure(known ? time_figure(stage.seconds_per_sample) : kTooFewRounds),
               figure(time_figure(stage.cpu_seconds_per_sample)),
               figure(time_figure(stage.wait_seconds_per_sample)),
               figure(share_figure(stage.busy_share)), figure(bytes_figure(stage.output_bytes)),
               figure(rate_figure(stage.payoff)), text(remarks(stage))});
    after(stage);
  }
  return section("stages", "The stages", table.html());
}

}  // namespace cachebisect::html
