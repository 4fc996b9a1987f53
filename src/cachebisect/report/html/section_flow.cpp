// The chain from the first stage to the training step, with the drop of each stage on it.
#include <algorithm>
#include <string>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/format/html/elements.hpp"
#include "cachebisect/format/html/figures.hpp"
#include "cachebisect/report/html/sections.hpp"
#include "cachebisect/report/words/span_of.hpp"

namespace cachebisect::html {
namespace {

/// Only a drop with an interval is shown.
bool is_known(const StageReport& stage) { return stage.drop.value && stage.drop.interval; }

/// "loses 41% (38 to 44%)"
std::string lost_text(const Estimate& drop, const char* loses) {
  if (drop.interval->low <= 0) {
    return "no certain loss (" + format_percent_interval(*drop.interval) + ")";
  }
  return loses + (" " + share_figure(drop));
}

std::string lost_text(const Report& report, const StageReport& stage) {
  if (is_known(stage)) return lost_text(stage.drop, "loses");
  const SpanReport* const span = span_of(report, stage);
  if (span == nullptr || !span->drop.value || !span->drop.interval) return "not measured alone";
  return span->name + ": " + lost_text(span->drop, "lose");
}

/// Percent of the box that is filled: only by a loss that is certain.
std::string filled(const StageReport& stage) {
  const bool certain = is_known(stage) && stage.drop.interval->low > 0;
  const double drop = certain ? std::clamp(*stage.drop.value, 0.0, 1.0) : 0;
  return "--lost: " + format_fixed(100 * drop, 1) + "%";
}

Html marks(const Report& report, const StageReport& stage) {
  Html all;
  const SpanReport* const span = span_of(report, stage);
  const std::string& named_as = report.verdict.stage;
  const bool named =
      !named_as.empty() && (stage.name == named_as || (span != nullptr && span->name == named_as));
  if (named) all += element("span", {{"class", "mark"}}, text("largest drop"));
  if (stage.name == report.verdict.fix_first && !stage.name.empty()) {
    all += element("span", {{"class", "mark"}}, text("fix first"));
  }
  return all;
}

Html box(const Report& report, const StageReport& stage) {
  const Html content =
      element("strong", name(stage.name)) + element("span", {{"class", "type"}}, name(stage.type)) +
      element("span", {{"class", "lost"}}, text(lost_text(report, stage))) +
      element("span", {{"class", "gauge"}, {"style", filled(stage)}}) + marks(report, stage);
  return element("li", {{"class", stage.certified ? "stage certain" : "stage"}}, content);
}

std::string ceiling_text(const Report& report) {
  const std::string rate = rate_figure(report.ceiling);
  return rate == kNotMeasured || rate == kTooFewRounds ? rate : "alone: " + rate + " samples/s";
}

Html last_box(const Report& report) {
  return element(
      "li", {{"class", "stage step"}},
      element("strong", "training step") +
          element("span", {{"class", "type"}}, text(report.chain.train, kMaxNameCharacters)) +
          element("span", {{"class", "lost"}}, text(ceiling_text(report))));
}

}  // namespace

Html flow_section(const Report& report) {
  if (report.stages.empty()) return {};
  Html boxes;
  for (const StageReport& stage : report.stages) boxes += box(report, stage);
  return section("flow", "The chain",
                 note("Each stage with the share of throughput that is lost where it joins, with "
                      "all stages before it free.") +
                     element("ol", {{"class", "flow"}}, boxes + last_box(report)));
}

}  // namespace cachebisect::html
