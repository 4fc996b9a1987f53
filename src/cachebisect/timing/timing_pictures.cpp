#include <algorithm>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/timing/timing_files.hpp"
#include "cachebisect/timing/timing_summary.hpp"

namespace cachebisect {
namespace {

constexpr double kMilli = 1000;
constexpr std::size_t kMaxBars = 150;     ///< more could not be told apart
constexpr std::size_t kMaxPoints = 2000;  ///< of a line

std::string pair_of(const char* one, const char* many, std::size_t count) {
  return format_count(count) + ' ' + (count == 1 ? one : many);
}

std::string subtitle(const TimingRecord& record, const TimedRun& run) {
  return record.name + (record.generated_data ? " (generated data)" : "") + ", batch " +
         std::to_string(run.batch_size) + ", " +
         pair_of("worker", "workers", static_cast<std::size_t>(run.workers)) + ", " +
         record.device + ": " + pair_of("batch", "batches", run.batches.size());
}

std::string sizes_subtitle(const TimingRecord& record) {
  return record.name + (record.generated_data ? " (generated data)" : "") + ", " + record.device;
}

bool has_sizes(const TimingRecord& record) { return record.runs.size() > 1; }

/// A part keeps its colour in all pictures.
int color_of(TimePart part) {
  constexpr std::array<int, kTimeParts> kColors{0, 1, 2, 3, 4, 2, 7};
  return kColors.at(static_cast<std::size_t>(part));
}

/// Batches that one bar or point stands for.
std::size_t group_size(std::size_t batches, std::size_t max_groups) {
  return std::max<std::size_t>(1, (batches + max_groups - 1) / max_groups);
}

/// Milliseconds, the mean of each group of `size` batches.
template <class Value>
std::vector<double> grouped(const TimedRun& run, std::size_t size, const Value& value) {
  std::vector<double> means;
  for (std::size_t begin = 0; begin < run.batches.size(); begin += size) {
    const std::size_t end = std::min(begin + size, run.batches.size());
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += value(run.batches[i]);
    means.push_back(kMilli * sum / static_cast<double>(end - begin));
  }
  return means;
}

std::string batch_label(std::size_t size, const char* mark) {
  if (size == 1) return "batch";
  return std::string("batch (each ") + mark + ": mean of " + std::to_string(size) + ")";
}

Picture bars_by_batch(const TimingRecord& record) {
  const TimedRun& run = record.runs.front();
  const std::size_t size = group_size(run.batches.size(), kMaxBars);
  BarChart chart{.caption = {"Where the milliseconds of a batch go", subtitle(record, run),
                             batch_label(size, "bar"), "milliseconds per batch"},
                 .series = {},
                 .first = (1 + static_cast<double>(size)) / 2,
                 .step = static_cast<double>(size)};
  for (const TimePart part : record.parts) {
    chart.series.push_back(
        {std::string(to_string(part)),
         grouped(run, size, [part](const BatchTimes& batch) { return batch.of(part); }),
         color_of(part)});
  }
  return chart;
}

Picture bars_by_size(const TimingRecord& record) {
  BarChart chart{.caption = {"Where the milliseconds of a batch go, by batch size",
                             sizes_subtitle(record), "batch size", "milliseconds per batch"},
                 .series = {}};
  for (const TimePart part : record.parts) {
    chart.series.push_back({std::string(to_string(part)), {}, color_of(part)});
  }
  for (const TimedRun& run : record.runs) {
    chart.categories.push_back(std::to_string(run.batch_size));
    const TimingSummary summary = summarise(run, record.parts);
    for (std::size_t i = 0; i < record.parts.size(); ++i) {
      chart.series[i].values.push_back(kMilli * summary.parts[i].mean);
    }
  }
  return chart;
}

Picture line_by_batch(const TimingRecord& record) {
  const TimedRun& run = record.runs.front();
  const TimingSummary summary = summarise(run, {});
  const std::size_t size = group_size(run.batches.size(), kMaxPoints);
  LineChart chart{
      .caption = {"Total time per batch", subtitle(record, run), batch_label(size, "point"),
                  "milliseconds"},
      .x = {},
      .series = {{"total",
                  grouped(run, size, [](const BatchTimes& batch) { return batch.total_seconds; })}},
      .levels = {}};
  for (std::size_t i = 0; i < chart.series[0].values.size(); ++i) {
    chart.x.push_back(static_cast<double>(i * size) + (1 + static_cast<double>(size)) / 2);
  }
  if (summary.batches > 0) {
    chart.levels = {{"median " + short_duration(summary.total.p50), kMilli * summary.total.p50},
                    {"p99 " + short_duration(summary.total.p99), kMilli * summary.total.p99}};
  }
  return chart;
}

Picture line_by_size(const TimingRecord& record) {
  const auto exponent = size_exponent(record);
  LineChart chart{.caption = {"Time per batch against batch size", sizes_subtitle(record),
                              "batch size", "milliseconds per batch (median)"},
                  .x = {},
                  .series = {{"measured", {}}, {"in proportion", {}}},
                  .x_scale = Scale::log,
                  .y_scale = Scale::log};
  if (exponent) {
    chart.caption.subtitle += ": grows as batch size to the power of " + format_fixed(*exponent, 2);
  }
  for (const TimedRun& run : record.runs) {
    const double milliseconds = kMilli * summarise(run, {}).total.p50;
    chart.x.push_back(static_cast<double>(run.batch_size));
    chart.series[0].values.push_back(milliseconds);
    chart.series[1].values.push_back(chart.series[0].values.front() * chart.x.back() /
                                     chart.x.front());
  }
  return chart;
}

}  // namespace

Picture breakdown_picture(const TimingRecord& record) {
  return has_sizes(record) ? bars_by_size(record) : bars_by_batch(record);
}

Picture total_picture(const TimingRecord& record) {
  return has_sizes(record) ? line_by_size(record) : line_by_batch(record);
}

Picture distribution_picture(const TimingRecord& record) {
  const TimedRun& run = record.runs.back();
  const TimingSummary summary = summarise(run, record.parts);
  PieChart chart{{"The mean batch: " + short_duration(summary.total.mean), subtitle(record, run)},
                 {}};
  for (std::size_t i = 0; i < record.parts.size(); ++i) {
    chart.slices.push_back({std::string(to_string(record.parts[i])), summary.parts[i].mean,
                            short_duration(summary.parts[i].mean), color_of(record.parts[i])});
  }
  return chart;
}

}  // namespace cachebisect
