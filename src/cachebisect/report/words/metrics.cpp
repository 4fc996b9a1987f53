#include "cachebisect/report/words/metrics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "cachebisect/report/words/utc_time.hpp"

namespace cachebisect {
namespace {

using Readings = std::vector<MetricReading>;

void add(Readings& readings, std::vector<MetricLabel> labels, Estimate estimate) {
  if (!estimate.value || !std::isfinite(*estimate.value)) return;
  const auto& interval = estimate.interval;
  if (interval && !(std::isfinite(interval->low) && std::isfinite(interval->high))) {
    estimate.interval.reset();
  }
  readings.push_back({std::move(labels), estimate});
}

Readings one(const Estimate& estimate) {
  Readings readings;
  add(readings, {}, estimate);
  return readings;
}

Readings one(const std::optional<double>& value) { return one(Estimate{value, {}}); }

Estimate as_estimate(const Estimate& estimate) { return estimate; }
Estimate as_estimate(const std::optional<double>& value) { return {value, {}}; }

template <auto Member>
Readings of_stages(const Report& report) {
  Readings readings;
  for (const StageReport& stage : report.stages) {
    add(readings, {{"stage", stage.name}}, as_estimate(stage.*Member));
  }
  return readings;
}

Readings span_drops(const Report& report) {
  Readings readings;
  for (const SpanReport& span : report.spans) add(readings, {{"span", span.name}}, span.drop);
  return readings;
}

Readings replayed(const Report& report) {
  Readings readings;
  for (const BoundaryReport& boundary : report.boundaries) {
    if (boundary.after.empty()) continue;
    add(readings, {{"stage", boundary.after}}, boundary.samples_per_second);
  }
  return readings;
}

Readings ranks(const Report& report) {
  Readings readings;
  for (const RankReport& rank : report.ranks) {
    std::string label = std::to_string(rank.ranks.first);
    if (!rank.ranks.is_single()) label += "-" + std::to_string(rank.ranks.end() - 1);
    add(readings, {{"rank", label}}, rank.payoff);
  }
  return readings;
}

Readings stage_indices(const Report& report) {
  Readings readings;
  for (const StageReport& stage : report.stages) {
    add(readings, {{"stage", stage.name}}, {stage.index, {}});
  }
  return readings;
}

Readings warning_readings(const Report& report) {
  std::map<std::string, double> count;
  for (const Warning& warning : report.warnings) count[warning.code] += 1;
  Readings readings;
  for (const auto& [code, times] : count) add(readings, {{"code", code}}, {times, {}});
  return readings;
}

using R = Report;
using S = StageReport;

constexpr std::array kMetrics{
    Metric{"live_samples_per_second", "Throughput of the live pipeline.",
           [](const R& r) { return one(r.live); }},
    Metric{"ceiling_samples_per_second",
           "Throughput of the training step alone, with its input for free.",
           [](const R& r) { return one(r.ceiling); }},
    Metric{"loss_ratio", "Share of the ceiling that the live pipeline loses.",
           [](const R& r) { return one(r.loss.total); }},
    Metric{"starvation_ratio", "Share of the ceiling lost because the step waits for data.",
           [](const R& r) { return one(r.loss.starvation); }},
    Metric{"contention_ratio", "Share of the ceiling lost because loading slows the step down.",
           [](const R& r) { return one(r.loss.contention); }},
    Metric{"cost_per_hour", "Price of the job per hour, as given by --cost-per-hour.",
           [](const R& r) { return one(r.cost ? std::optional(r.cost->per_hour) : std::nullopt); }},
    Metric{"lost_cost_per_hour", "Part of the price per hour that the loss wastes.",
           [](const R& r) { return one(r.cost ? r.cost->lost_per_hour : Estimate{}); }},
    Metric{"live_starved_ratio",
           "Share of the live time in which the training thread waited for a batch.",
           [](const R& r) { return one(r.live_loop.starved_share); }},
    Metric{"live_ready_batches", "Batches that were ready when the training thread asked: mean.",
           [](const R& r) { return one(r.live_loop.ready_batches); }},
    Metric{"next_samples_per_second", "Throughput with the stage of the largest payoff fixed.",
           [](const R& r) { return one(r.next_samples_per_second); }},
    Metric{"stage_drop_ratio",
           "Share of the throughput lost when the stage joins, with all stages before it free.",
           of_stages<&S::drop>},
    Metric{"span_drop_ratio", "The same of stages that were measured together.", span_drops},
    Metric{"stage_replayed_samples_per_second",
           "Throughput with the stage and all stages before it served from the cache.", replayed},
    Metric{"stage_payoff_samples_per_second",
           "Throughput with the stage alone free and everything else live.", of_stages<&S::payoff>},
    Metric{"stage_seconds_per_sample", "What a sample takes longer once the stage joins.",
           of_stages<&S::seconds_per_sample>},
    Metric{"stage_cpu_seconds_per_sample", "CPU time of the stage per sample.",
           of_stages<&S::cpu_seconds_per_sample>},
    Metric{"stage_wait_seconds_per_sample", "Time per sample in which the stage waited.",
           of_stages<&S::wait_seconds_per_sample>},
    Metric{"stage_busy_ratio", "Share of the live time of the workers spent in the stage.",
           of_stages<&S::busy_share>},
    Metric{"stage_output_bytes", "Size of a sample after the stage.", of_stages<&S::output_bytes>},
    Metric{"stage_index", "Place of the stage in the chain, from 1.", stage_indices},
    Metric{"rank_payoff_samples_per_second",
           "Throughput of each rank with this rank, or these, alone at their ceiling.", ranks},
    Metric{"detectable_drop_ratio", "Smallest drop that the run could certify.",
           [](const R& r) { return one(r.verdict.detectable_drop); }},
    Metric{"rounds", "Rounds until the verdict.", [](const R& r) { return one(r.verdict.rounds); }},
    Metric{"batch_samples", "Samples in a batch.",
           [](const R& r) { return one(static_cast<double>(r.chain.batch_size)); }},
    Metric{"workers", "Workers that load.", [](const R& r) { return one(r.chain.workers); }},
    Metric{"skipped_samples", "Damaged samples that were replaced by others.",
           [](const R& r) { return one(static_cast<double>(r.skipped)); }},
    Metric{"host_cache_bytes", "Host memory of the caches.",
           [](const R& r) { return one(r.cache.bytes_host); }},
    Metric{"device_cache_bytes", "Device memory of the caches.",
           [](const R& r) { return one(r.cache.bytes_device); }},
    Metric{"prepare_seconds", "Time to open the pipeline.",
           [](const R& r) { return one(r.timing.prepare_seconds); }},
    Metric{"cache_seconds", "Time to fill the caches.",
           [](const R& r) { return one(r.timing.cache_seconds); }},
    Metric{"measure_seconds", "Time of measuring, with the rounds that explain the verdict.",
           [](const R& r) { return one(r.timing.measure_seconds); }},
    Metric{"verdict_seconds", "Time from the start to the verdict.",
           [](const R& r) { return one(r.timing.verdict_seconds); }},
    Metric{"wall_seconds", "Time from the start to the end.",
           [](const R& r) { return one(r.timing.wall_seconds); }},
    Metric{"first_batch_seconds", "Time to the first batch of the live pipeline.",
           [](const R& r) { return one(r.timing.first_batch_seconds); }},
    Metric{"block_variation_ratio", "Standard deviation of equal blocks over their mean.",
           [](const R& r) { return one(r.machine.noise.block_cv); }},
    Metric{"steal_ratio", "Share of the CPU time that the hypervisor gave to others.",
           [](const R& r) { return one(r.machine.noise.steal_share); }},
    Metric{"throttled_ratio", "Share of the periods of the CPU quota in which it ran out.",
           [](const R& r) { return one(r.machine.noise.throttled_share); }},
    Metric{"probe_overhead_ratio", "Share of the live throughput that the probes cost.",
           [](const R& r) { return one(r.overhead); }},
    Metric{"warnings", "Warnings of the run by code.", warning_readings},
    Metric{"interrupted", "1 if the run was stopped before its end, else 0.",
           [](const R& r) { return one(r.interrupted ? 1.0 : 0.0); }},
    Metric{"run_timestamp_seconds", "When the run began, in seconds since 1970.",
           [](const R& r) { return one(unix_seconds(r.started)); }},
};

}  // namespace

std::span<const Metric> report_metrics() noexcept { return kMetrics; }

}  // namespace cachebisect
