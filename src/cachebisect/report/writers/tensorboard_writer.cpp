// The report as an event file of TensorBoard: each metric as a point, each block as a point of its
// boundary's curve, and the page of Markdown.
#include <cstddef>
#include <string>
#include <string_view>

#include "cachebisect/format/tensorboard_events.hpp"
#include "cachebisect/report/words/metrics.hpp"
#include "cachebisect/report/words/utc_time.hpp"
#include "cachebisect/report/writers.hpp"

namespace cachebisect {
namespace {

/// "stage_drop_ratio_lower/decode"; without a label "run/live_samples_per_second_lower".
std::string metric_tag(const Metric& metric, std::string_view ending,
                       const MetricReading& reading) {
  const std::string name = std::string(metric.name) + std::string(ending);
  return reading.labels.empty() ? "run/" + name : name + '/' + reading.labels.front().value;
}

void add_metrics(TensorboardEvents& events, const Report& report, const EventTime& time) {
  for (const Metric& metric : report_metrics()) {
    for (const MetricReading& reading : metric.read(report)) {
      events.add_scalar(metric_tag(metric, "", reading), time, *reading.estimate.value);
      if (!reading.estimate.interval) continue;
      events.add_scalar(metric_tag(metric, "_lower", reading), time,
                        reading.estimate.interval->low);
      events.add_scalar(metric_tag(metric, "_upper", reading), time,
                        reading.estimate.interval->high);
    }
  }
}

/// "3 decode"; "0 live".
std::string boundary_name(const Report& report, int boundary) {
  const auto index = static_cast<std::size_t>(boundary);
  const bool known = index < report.boundaries.size();
  const std::string after = known ? report.boundaries[index].after : "";
  return std::to_string(boundary) + ' ' + (after.empty() ? "live" : after);
}

void add_blocks(TensorboardEvents& events, const Report& report, double started) {
  if (report.blocks.empty()) return;
  const double first = report.blocks.front().result.start_seconds;
  for (const BlockRecord& block : report.blocks) {
    if (!block.shows_replay()) continue;
    const EventTime time{started + block.result.start_seconds - first,
                         static_cast<std::uint64_t>(block.round)};
    events.add_scalar("block_samples_per_second/" + boundary_name(report, block.arm.boundary), time,
                      1 / block.seconds_per_sample());
  }
}

}  // namespace

std::string to_tensorboard(const Report& report) {
  const double started = unix_seconds(report.started).value_or(0);
  TensorboardEvents events(started);
  add_metrics(events, report, {started});
  add_blocks(events, report, started);
  events.add_text("report", {started}, to_markdown(report));
  return events.bytes();
}

}  // namespace cachebisect
