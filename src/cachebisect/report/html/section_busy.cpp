// What each stage costs live, and what it costs replayed: where they differ, replay does not show
// what happens live.
#include <algorithm>
#include <cmath>
#include <string>

#include <nlohmann/json.hpp>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/format/document/render.hpp"
#include "cachebisect/format/html/chart.hpp"
#include "cachebisect/format/html/elements.hpp"
#include "cachebisect/format/html/figures.hpp"
#include "cachebisect/report/html/sections.hpp"

namespace cachebisect::html {
namespace {

using Json = nlohmann::ordered_json;

/// Seconds per sample that the stage's thread is busy, live.
std::optional<double> live_busy(const StageReport& stage) {
  if (!stage.cpu_seconds_per_sample) return stage.wait_seconds_per_sample;
  return *stage.cpu_seconds_per_sample + stage.wait_seconds_per_sample.value_or(0);
}

Estimate replayed_busy(const StageReport& stage) {
  const std::optional<double> live = live_busy(stage);
  return live && *live > 0 ? scaled(stage.replayed_busy_ratio, *live) : Estimate{};
}

/// "1.01 (0.99 - 1.02)".
std::string ratio_text(const Estimate& ratio) {
  if (!ratio.value || !std::isfinite(*ratio.value)) return kNotMeasured;
  std::string text = format_fixed(*ratio.value, 2);
  if (ratio.interval) {
    text += " (" + format_fixed(ratio.interval->low, 2) + " - " +
            format_fixed(ratio.interval->high, 2) + ")";
  }
  return text;
}

Json bars(const Report& report) {
  Json all = Json::array();
  for (const StageReport& stage : report.stages) {
    const std::optional<double> live = live_busy(stage);
    if (!live) continue;
    const Estimate replayed = replayed_busy(stage);
    all.push_back({{"live", chart_value(stage.name, {live, std::nullopt}, time_figure(live))},
                   {"replayed", chart_value(stage.name, replayed, time_figure(replayed.value))}});
  }
  return all;
}

document::Table busy_table(const Report& report) {
  document::Table table{.columns = {{"stage"},
                                    {"live", Align::right},
                                    {"replayed", Align::right},
                                    {"replayed / live", Align::right}},
                        .caption = "Time per sample that a stage is busy"};
  for (const StageReport& stage : report.stages) {
    table.rows.push_back({document::named(stage.name), time_figure(live_busy(stage)),
                          time_figure(replayed_busy(stage).value),
                          ratio_text(stage.replayed_busy_ratio)});
  }
  return table;
}

}  // namespace

Html busy_section(const Report& report) {
  const bool known = std::any_of(report.stages.begin(), report.stages.end(),
                                 [](const StageReport& stage) { return live_busy(stage); });
  if (!known) return {};
  const Json data = bars(report);
  Document busy;
  busy.add(document::Paragraph{
      .text = "Replay shows what a stage costs live if both take the same time. The first stage "
              "and stages on the device are not compared.",
      .remark = true});
  busy.add(document::Chart{"busy", 2 * data.size(),
                           "Bar chart: time per sample of each stage, live and replayed. The table "
                           "below has its figures.",
                           data.dump()});
  busy.add(busy_table(report));
  return section("busy", "Live against replayed", to_html(busy));
}

}  // namespace cachebisect::html
