#include <algorithm>

#include "cachebisect/bisect/report/report_builder.hpp"

namespace cachebisect {
namespace {

/// The median's interval, widened to hold the mean that stands beside it.
Estimate throughput(const RoundTable& rounds, int boundary, double confidence) {
  Estimate estimate;
  if (!rounds.visited(boundary)) return estimate;
  estimate.value = 1 / rounds.tau(boundary);
  std::vector<double> rates = rounds.block_taus(boundary);
  for (double& rate : rates) rate = 1 / rate;
  estimate.interval = median_interval(rates, confidence);
  if (estimate.interval) {
    estimate.interval->low = std::min(estimate.interval->low, *estimate.value);
    estimate.interval->high = std::max(estimate.interval->high, *estimate.value);
  }
  return estimate;
}

void fill_boundaries(Report& report, const RoundTable& rounds, double confidence) {
  const auto at = [](const std::vector<double>& values, int k) -> std::optional<double> {
    const auto i = static_cast<std::size_t>(k);
    return i < values.size() ? std::optional(values[i]) : std::nullopt;
  };
  for (int k = 0; k <= rounds.stages(); ++k) {
    BoundaryReport boundary;
    boundary.index = k;
    if (k > 0) {
      const StageDescription& stage = report.chain.stages[static_cast<std::size_t>(k) - 1];
      boundary.after = stage.name;
      boundary.held = stage.held;
    }
    boundary.visited = rounds.visited(k);
    boundary.blocks = rounds.visits(k);
    boundary.samples_per_second = throughput(rounds, k, confidence);
    if (boundary.visited) boundary.seconds_per_sample = rounds.tau(k);
    boundary.serve_seconds_per_sample = at(report.cache.serve_seconds_per_sample, k);
    boundary.item_bytes = at(report.cache.item_bytes, k);
    report.boundaries.push_back(std::move(boundary));
  }
}

/// A span's figures stand at its first stage; the others only say which span they are part of.
void fill_drops(Report& report, const Findings& findings, const RoundTable& rounds,
                double min_drop) {
  for (const Finding& finding : findings.parts) {
    for (int s = finding.part.from + 1; s <= finding.part.to; ++s) {
      report.stages[static_cast<std::size_t>(s) - 1].span = span_name(finding.part);
    }
    StageReport& stage = report.stages[static_cast<std::size_t>(finding.part.from)];
    stage.drop = {finding.drop, finding.interval()};
    stage.certified = finding.low > min_drop;
    stage.bursty = finding.bursty;
    stage.seconds_per_sample = rounds.tau(finding.part.from) - rounds.tau(finding.part.to);
  }
}

/// Live, observed, and evidence.
bool counts_inline(const BlockRecord& record) {
  const bool live = record.arm.kind == ArmKind::replay && record.arm.boundary == 0;
  return live && record.arm.observed && record.round >= 0 && !record.result.is_void;
}

/// What the training thread saw of the ring.
void fill_waiting(Report& report, const std::vector<BlockRecord>& records) {
  double seconds = 0;
  double starved = 0;
  double steps = 0;
  double ready = 0;
  for (const BlockRecord& record : records) {
    if (!counts_inline(record)) continue;
    seconds += record.result.seconds;
    starved += record.result.starved_seconds;
    if (!record.result.ready_batches) continue;
    steps += record.result.steps;
    ready += *record.result.ready_batches * record.result.steps;
  }
  if (seconds > 0) report.starved_share = std::min(1.0, starved / seconds);
  if (steps > 0) report.ready_batches = ready / steps;
}

void fill_inline(Report& report, const std::vector<BlockRecord>& records) {
  std::vector<StageCounters> sums(report.stages.size());
  double seconds = 0;
  double samples = 0;
  double padding = 0;
  for (const BlockRecord& record : records) {
    if (!counts_inline(record)) continue;
    const auto weight = static_cast<double>(record.result.samples);
    seconds += record.result.seconds;
    samples += weight;
    padding += weight * record.result.padding_share;
    for (std::size_t s = 0; s < std::min(sums.size(), record.result.stages.size()); ++s) {
      sums[s].busy_seconds += record.result.stages[s].busy_seconds;
      sums[s].cpu_seconds += record.result.stages[s].cpu_seconds;
      sums[s].samples += record.result.stages[s].samples;
    }
  }
  if (samples <= 0) return;
  const double capacity = seconds / samples * std::max(1, report.chain.workers);
  for (std::size_t s = 0; s < sums.size(); ++s) {
    StageReport& stage = report.stages[s];
    if (stage.type == "collate.pad") stage.padding_share = padding / samples;
    if (sums[s].samples == 0) continue;
    const auto count = static_cast<double>(sums[s].samples);
    const double busy = sums[s].busy_seconds / count;
    stage.cpu_seconds_per_sample = sums[s].cpu_seconds / count;
    stage.wait_seconds_per_sample = std::max(0.0, busy - *stage.cpu_seconds_per_sample);
    if (runs_on_host(stage.category)) {
      stage.busy_share = std::min(1.0, busy / capacity);
    }
  }
}

}  // namespace

std::string span_name(const Part& part) {
  if (part.single()) return {};
  return "stages " + std::to_string(part.from + 1) + "-" + std::to_string(part.to) + " together";
}

void fill_waterfall(Report& report, const Measured& measured, double confidence) {
  for (std::size_t s = 0; s < report.chain.stages.size(); ++s) {
    const StageDescription& description = report.chain.stages[s];
    StageReport stage;
    stage.index = static_cast<int>(s) + 1;
    stage.name = description.name;
    stage.type = description.type;
    stage.category = description.category;
    stage.random = description.random;
    stage.cacheable = description.cacheable;
    stage.output_bytes = description.output_bytes;
    report.stages.push_back(std::move(stage));
  }
  const RoundTable& rounds = measured.ledger.rounds();
  fill_boundaries(report, rounds, confidence);
  if (rounds.rounds() == 0) return;
  fill_drops(report, measured.findings, rounds, report.settings.min_drop);
  fill_inline(report, measured.runner.records());
  fill_waiting(report, measured.runner.records());
  report.live = report.boundaries.front().samples_per_second;
  report.ceiling = report.boundaries.back().samples_per_second;
  report.loss.total = {measured.findings.whole.drop, measured.findings.whole.interval()};
}

}  // namespace cachebisect
