#include "cachebisect/bisect/assemble.hpp"

#include <algorithm>

#include "cachebisect/bisect/advice/warnings.hpp"
#include "cachebisect/bisect/analysis/reading.hpp"
#include "cachebisect/bisect/report/storage_use.hpp"

namespace cachebisect {
namespace {

Timing timing_of(const Measurements& measured) {
  Timing timing;
  timing.prepare_seconds = measured.prepare_seconds;
  timing.cache_seconds = measured.cache.seconds + measured.refill_seconds;
  if (measured.explain.caches) timing.cache_seconds += measured.explain.caches->fill_seconds;
  timing.measure_seconds = measured.measure_seconds;
  if (measured.sustained) timing.sustain_seconds = measured.sustained->seconds;
  timing.verdict_seconds = measured.verdict_seconds;
  timing.wall_seconds = measured.wall_seconds;
  timing.epoch_start_seconds = measured.chain.epoch_start_seconds;
  if (measured.verdict_reached) {
    timing.explain_seconds = measured.measure_seconds - measured.verdict.seconds;
  }
  for (const BlockRecord& record : measured.blocks) {
    if (!record.arm.is_live() || record.result.first_batch_seconds <= 0) continue;
    timing.first_batch_seconds = record.result.first_batch_seconds;
    break;
  }
  return timing;
}

CacheFacts cache_of(const Measurements& measured, const Waterfall& waterfall) {
  CacheFacts cache = measured.cache;
  for (const BoundaryReport& boundary : waterfall.boundaries) {
    const auto k = static_cast<std::size_t>(boundary.index);
    if (boundary.serve_seconds_per_sample && k < cache.serve_seconds_per_sample.size()) {
      cache.serve_seconds_per_sample[k] = *boundary.serve_seconds_per_sample;
    }
  }
  return cache;
}

/// Starvation is the rest of the loss that the verdict's rounds measured, so that the two sum to
/// it; its interval is that of the explaining rounds, widened to hold the rest.
Loss loss_of(const Analysis& analysis) {
  Loss loss;
  loss.total = analysis.waterfall.loss;
  loss.contention = analysis.explanation.contention;
  if (!loss.contention.value || !loss.total.value) return loss;
  loss.starvation.value = *loss.total.value - *loss.contention.value;
  if (const auto& interval = analysis.explanation.starvation.interval) {
    loss.starvation.interval = Interval{std::min(interval->low, *loss.starvation.value),
                                        std::max(interval->high, *loss.starvation.value)};
  }
  return loss;
}

/// The share of throughput that is lost is the share of the price that is lost.
std::optional<Cost> cost_of(const std::optional<double>& per_hour, const Estimate& loss) {
  if (!per_hour) return std::nullopt;
  return Cost{*per_hour, scaled(loss, *per_hour)};
}

/// As counted; else, of pipeline files, what the source returns. What a stage in Python returns
/// need not be what it has read. 0: unknown.
double bytes_read(const Measurements& measured, const Waterfall& waterfall) {
  if (measured.storage) return bytes_per_sample(*measured.storage);
  const auto read = std::ranges::find(waterfall.stages, Category::read, &StageReport::category);
  if (!measured.chain.settings.of_file || read == waterfall.stages.end()) return 0;
  return read->output_bytes.value_or(0);
}

std::optional<Reading> reading_of(const Measurements& measured, const Waterfall& waterfall) {
  const double bytes = bytes_read(measured, waterfall);
  if (!(bytes > 0)) return std::nullopt;
  const auto rate = [bytes](const Estimate& samples) {
    return samples.value ? std::optional(*samples.value * bytes) : std::nullopt;
  };
  return Reading{bytes, rate(waterfall.live), rate(waterfall.ceiling)};
}

std::optional<SustainedReport> sustained_of(const std::optional<SustainedFigure>& figure) {
  if (!figure) return std::nullopt;
  return SustainedReport{figure->samples_per_second, figure->seconds};
}

void add_predictions(std::vector<BoundaryReport>& boundaries,
                     const std::optional<Forecast>& forecast) {
  if (!forecast) return;
  for (BoundaryReport& boundary : boundaries) {
    boundary.predicted_samples_per_second = predict(forecast->costs(), {}, boundary.index);
  }
}

void add_stages(Report& report, const Analysis& analysis) {
  report.stages = analysis.waterfall.stages;
  report.spans = analysis.waterfall.spans;
  for (const Payoff& payoff : analysis.explanation.payoffs) {
    report.stages.at(static_cast<std::size_t>(payoff.stage) - 1).payoff = payoff.samples_per_second;
  }
}

void add_next(Report& report, const Explanation& explanation) {
  const VerdictKind kind = report.verdict.kind;
  const bool gives = kind == VerdictKind::drop || kind == VerdictKind::spread;
  if (!gives || explanation.pays_most == 0) return;
  report.next_stage = explanation.limits_next;
  report.next_samples_per_second =
      report.stages.at(static_cast<std::size_t>(explanation.pays_most) - 1).payoff.value;
}

}  // namespace

Report assemble(const Measurements& measured, const Analysis& analysis) {
  const Waterfall& waterfall = analysis.waterfall;
  SkippedSamples skipped = skipped_samples(measured.blocks);
  Report report;
  report.started = measured.started;
  report.interrupted = measured.interrupted;
  report.timing = timing_of(measured);
  report.machine = analysis.machine;
  report.chain = measured.chain;
  report.skipped = skipped.count;
  report.first_skipped = std::move(skipped.first);
  report.settings = measured.settings;
  report.cache = cache_of(measured, waterfall);
  report.resident_share = resident_share(measured.blocks);
  report.k2k_change = analysis.explanation.larger_cache.value;
  report.overhead = analysis.explanation.overhead;
  report.verdict = analysis.verdict;
  report.ceiling = waterfall.ceiling;
  report.live = waterfall.live;
  report.live_loop = waterfall.live_loop;
  report.live_sustained = sustained_of(analysis.sustained.live);
  report.ceiling_sustained = sustained_of(analysis.sustained.ceiling);
  report.loss = loss_of(analysis);
  report.cost = cost_of(measured.questions.cost_per_hour, report.loss.total);
  report.reading = reading_of(measured, waterfall);
  report.storage = measured.storage;
  report.boundaries = waterfall.boundaries;
  add_predictions(report.boundaries, analysis.forecast);
  add_stages(report, analysis);
  for (const RankPayoff& payoff : analysis.explanation.ranks) {
    report.ranks.push_back({payoff.ranks, payoff.samples_per_second});
  }
  add_next(report, analysis.explanation);
  report.remedies = analysis.remedies;
  report.what_ifs = analysis.what_ifs;
  report.step_functions = measured.step_functions;
  report.warnings = analysis.warnings;
  report.blocks = measured.blocks;
  report.recording = std::make_shared<const Measurements>(measured);
  return report;
}

}  // namespace cachebisect
