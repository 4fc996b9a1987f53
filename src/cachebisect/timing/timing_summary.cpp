#include "cachebisect/timing/timing_summary.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cachebisect/base/statistics.hpp"

namespace cachebisect {
namespace {

template <class Value>
std::vector<double> values_of(const TimedRun& run, const Value& value) {
  std::vector<double> values;
  values.reserve(run.batches.size());
  for (const BatchTimes& batch : run.batches) values.push_back(value(batch));
  return values;
}

PartSummary summary_of(const std::vector<double>& values, const TimingSummary& whole) {
  constexpr double kP95 = 0.95;
  constexpr double kP99 = 0.99;
  const auto [least, most] = std::ranges::minmax_element(values);
  PartSummary part{
      mean(values),           standard_deviation(values), *least, *most, median(values),
      quantile(values, kP95), quantile(values, kP99),     0};
  const double seconds = std::reduce(values.begin(), values.end());
  if (whole.seconds > 0) part.share = seconds / whole.seconds;
  if (seconds > 0) part.samples_per_second = static_cast<double>(whole.samples) / seconds;
  return part;
}

}  // namespace

TimingSummary summarise(const TimedRun& run, const std::vector<TimePart>& parts) {
  TimingSummary summary;
  summary.parts.resize(parts.size());
  summary.batches = run.batches.size();
  if (run.batches.empty()) return summary;
  std::size_t starved = 0;
  for (const BatchTimes& batch : run.batches) {
    summary.seconds += batch.total_seconds;
    summary.samples += static_cast<std::uint64_t>(batch.samples);
    if (batch.starved) ++starved;
  }
  summary.starved_share = static_cast<double>(starved) / static_cast<double>(run.batches.size());
  summary.total = summary_of(
      values_of(run, [](const BatchTimes& batch) { return batch.total_seconds; }), summary);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    summary.parts[i] = summary_of(
        values_of(run, [&](const BatchTimes& batch) { return batch.of(parts[i]); }), summary);
  }
  return summary;
}

const PartSummary* find_part(const TimingSummary& summary, const std::vector<TimePart>& parts,
                             TimePart part) noexcept {
  const auto found = std::ranges::find(parts, part);
  if (found == parts.end()) return nullptr;
  return &summary.parts[static_cast<std::size_t>(found - parts.begin())];
}

std::optional<double> size_exponent(const TimingRecord& record) {
  std::vector<double> sizes;
  std::vector<double> times;
  for (const TimedRun& run : record.runs) {
    const double seconds = summarise(run, {}).total.p50;
    if (!(seconds > 0)) continue;
    sizes.push_back(std::log(static_cast<double>(run.batch_size)));
    times.push_back(std::log(seconds));
  }
  const double size = mean(sizes);
  const double time = mean(times);
  double together = 0;
  double alone = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    together += (sizes[i] - size) * (times[i] - time);
    alone += (sizes[i] - size) * (sizes[i] - size);
  }
  if (!(alone > 0)) return std::nullopt;
  return together / alone;
}

}  // namespace cachebisect
