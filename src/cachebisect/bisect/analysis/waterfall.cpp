#include "cachebisect/bisect/analysis/waterfall.hpp"

#include <algorithm>

#include "cachebisect/bisect/evidence/busy_ratio.hpp"
#include "cachebisect/bisect/evidence/serving_cost.hpp"
#include "cachebisect/bisect/evidence/throughput.hpp"
#include "cachebisect/bisect/record/block_totals.hpp"

namespace cachebisect {
namespace {

std::optional<double> value_at(const std::vector<double>& values, int k) {
  const auto i = static_cast<std::size_t>(k);
  return i < values.size() ? std::optional(values[i]) : std::nullopt;
}

void add_stages(Waterfall& out, const Measurements& measured) {
  for (const StageDescription& description : measured.chain.stages) {
    StageReport& stage = out.stages.emplace_back();
    stage.index = static_cast<int>(out.stages.size());
    stage.name = description.name;
    stage.type = description.type;
    stage.category = description.category;
    stage.random = description.random;
    stage.cacheable = description.cacheable;
    stage.output_bytes = description.output_bytes;
    // Where the shapes vary: the mean of what was cached.
    if (!stage.output_bytes) stage.output_bytes = value_at(measured.cache.item_bytes, stage.index);
  }
}

/// Live and ceiling by their own blocks, which every round runs; a boundary between them by its
/// ratios to these two, if a part ends there.
Estimate throughput_of(const RoundTable& rounds, int boundary, const Findings& findings,
                       double confidence) {
  if (boundary == 0 || boundary == rounds.last()) return throughput(rounds, boundary, confidence);
  const bool ends_part =
      std::any_of(findings.parts.begin(), findings.parts.end(),
                  [&](const Finding& finding) { return finding.part.to == boundary; });
  return ends_part ? paired_throughput(rounds, boundary, confidence) : Estimate{};
}

void add_boundaries(Waterfall& out, const Measurements& measured, const Findings& findings) {
  const RoundTable& rounds = measured.verdict.table;
  const std::vector<double> serving = serving_cost(measured.chain, measured.cache, rounds);
  for (int k = 0; k <= measured.stages(); ++k) {
    BoundaryReport& boundary = out.boundaries.emplace_back();
    boundary.index = k;
    if (k > 0) {
      const StageDescription& stage = measured.chain.stages[static_cast<std::size_t>(k) - 1];
      boundary.after = stage.name;
      boundary.held = stage.held;
    }
    boundary.visited = rounds.visited(k);
    boundary.blocks = rounds.visits(k);
    boundary.samples_per_second = throughput_of(rounds, k, findings, measured.settings.confidence);
    if (boundary.visited) boundary.seconds_per_sample = rounds.tau(k);
    boundary.serve_seconds_per_sample = value_at(serving, k);
    boundary.item_bytes = value_at(measured.cache.item_bytes, k);
  }
}

/// Sets the figures of a stage or span. Bursty: most of it is lost in stalls.
template <class Row>
void set_drop(Row& row, const Finding& finding, const RoundTable& rounds, double min_drop) {
  row.drop = {finding.drop, finding.interval()};
  row.certified = finding.low > min_drop;
  row.bursty = finding.bursty && finding.median_drop < finding.drop / 2;
  row.seconds_per_sample = rounds.tau(finding.part.from) - rounds.tau(finding.part.to);
}

void add_drops(Waterfall& out, const Findings& findings, const RoundTable& rounds,
               double min_drop) {
  for (const Finding& finding : findings.parts) {
    const Part& part = finding.part;
    if (part.single()) {
      set_drop(out.stages[static_cast<std::size_t>(part.from)], finding, rounds, min_drop);
      continue;
    }
    SpanReport& span = out.spans.emplace_back();
    span.name = span_name(part);
    span.first = part.from + 1;
    span.last = part.to;
    set_drop(span, finding, rounds, min_drop);
    for (int s = span.first; s <= span.last; ++s) {
      out.stages[static_cast<std::size_t>(s) - 1].span = span.name;
    }
  }
}

/// What the training thread saw of the ring.
LiveLoop live_loop_of(const Measurements& measured) {
  const LiveWaiting waiting = waiting_of_live(measured.blocks);
  LiveLoop loop{.starved_share = waiting.share(),
                .ready_batches = ready_batches_of_live(measured.blocks),
                .watched_seconds = waiting.seconds};
  if (!measured.sustained) return loop;
  loop.watched_seconds += measured.sustained->live.seconds;
  for (const BlockResult& run : measured.sustained->shorter_live) {
    loop.watched_seconds += run.seconds;
  }
  return loop;
}

/// The copy against a copy from pinned memory that has the link for itself.
void add_copy(StageReport& stage, const ChainDescription& chain, double busy_seconds) {
  if (!stage.output_bytes || busy_seconds <= 0) return;
  stage.copy_gb_per_s = 1e-9 * *stage.output_bytes / busy_seconds;
  if (chain.copy_gb_per_s) stage.copy_share = *stage.copy_gb_per_s / *chain.copy_gb_per_s;
}

void add_counters(Waterfall& out, const Measurements& measured) {
  BlockTotals totals;
  double padding = 0;
  for (const BlockRecord& record : measured.blocks) {
    if (!record.shows_live()) continue;
    totals.add(record.result);
    padding += static_cast<double>(record.result.samples) * record.result.padding_share;
  }
  if (totals.samples <= 0) return;
  const double capacity = totals.seconds / totals.samples * std::max(1, measured.chain.workers);
  totals.stages.resize(out.stages.size());
  for (std::size_t s = 0; s < out.stages.size(); ++s) {
    StageReport& stage = out.stages[s];
    const StageCounters& counters = totals.stages[s];
    if (stage.type == "collate.pad") stage.padding_share = padding / totals.samples;
    if (counters.samples == 0) continue;
    const auto count = static_cast<double>(counters.samples);
    const double busy = counters.busy_seconds / count;
    stage.cpu_seconds_per_sample = counters.cpu_seconds / count;
    stage.wait_seconds_per_sample = std::max(0.0, busy - *stage.cpu_seconds_per_sample);
    if (measured.chain.stages[s].kind == StageKind::copy) add_copy(stage, measured.chain, busy);
    if (runs_on_host(stage.category)) stage.busy_share = std::min(1.0, busy / capacity);
  }
}

void add_busy_ratios(Waterfall& out, const Measurements& measured) {
  const std::vector<Estimate> ratios = replayed_busy_ratios(
      measured.blocks, measured.chain, measured.settings.confidence, measured.usable_cpus());
  for (std::size_t s = 0; s < ratios.size(); ++s) out.stages[s].replayed_busy_ratio = ratios[s];
}

}  // namespace

Waterfall make_waterfall(const Measurements& measured, const Findings& findings) {
  Waterfall out;
  const RoundTable& rounds = measured.verdict.table;
  add_stages(out, measured);
  add_boundaries(out, measured, findings);
  if (rounds.rounds() == 0) return out;
  add_drops(out, findings, rounds, measured.settings.min_drop);
  add_counters(out, measured);
  add_busy_ratios(out, measured);
  out.live_loop = live_loop_of(measured);
  out.live = out.boundaries.front().samples_per_second;
  out.ceiling = out.boundaries.back().samples_per_second;
  out.loss = {findings.whole.drop, findings.whole.interval()};
  return out;
}

ChainDescription with_bytes(ChainDescription chain, const Waterfall& waterfall) {
  for (std::size_t s = 0; s < chain.stages.size(); ++s) {
    chain.stages[s].output_bytes = waterfall.stages.at(s).output_bytes;
  }
  return chain;
}

}  // namespace cachebisect
