#include "cachebisect/bisect/analysis/near_floor.hpp"

#include <algorithm>

#include "cachebisect/base/number_format.hpp"

namespace cachebisect {
namespace {

/// A cost that a verdict claims, and the part of the tool's own that it may contain.
struct Claim {
  std::string what;
  double cost_seconds = 0;
  double floor_seconds = 0;
};

bool holds_copy(const ChainDescription& chain, const Part& part) {
  const auto first = chain.stages.begin() + part.from;
  return std::any_of(first, chain.stages.begin() + part.to, [](const StageDescription& stage) {
    return stage.category == Category::copy;
  });
}

/// Seconds per sample that the training thread is busy with the input for free, neither starved nor
/// waiting for the device; empty if no block tells.
std::optional<double> trainer_seconds_at_ceiling(const Measurements& measured) {
  double seconds = 0;
  double samples = 0;
  for (const BlockRecord& record : measured.blocks) {
    if (!record.shows_replay_at(measured.stages())) continue;
    seconds += record.result.trainer_seconds;
    samples += static_cast<double>(record.result.samples);
  }
  return seconds > 0 && samples > 0 ? std::optional(seconds / samples) : std::nullopt;
}

/// How much of the tool's cost can be part of what the copy alone costs. A training thread that
/// does not wait for its device runs ahead of it: handing over batches hides behind the step, as
/// far as both fit into its time.
double floor_of_copy(const Measurements& measured, const Waterfall& waterfall, double whole) {
  const ChainDescription& chain = measured.chain;
  const bool waits =
      chain.sync_every > 0 || !chain.copy_pinned || !chain.copy_non_blocking.value_or(false);
  const auto busy = trainer_seconds_at_ceiling(measured);
  const auto& step = waterfall.boundaries.back().seconds_per_sample;
  if (waits || !busy || !step) return whole;
  return std::clamp(*busy + whole - *step, 0.0, whole);
}

std::optional<double> seconds_of(const Waterfall& waterfall, const Part& part) {
  if (part.single()) {
    return waterfall.stages[static_cast<std::size_t>(part.from)].seconds_per_sample;
  }
  const auto span = std::ranges::find(waterfall.spans, part.to, &SpanReport::last);
  return span == waterfall.spans.end() ? std::nullopt : span->seconds_per_sample;
}

std::optional<Claim> claim_of(const Measurements& measured, const Waterfall& waterfall,
                              const VerdictState& state, const FloorSeconds& floor) {
  if (state.decision.kind == VerdictKind::spread) {
    const auto& live = waterfall.boundaries.front().seconds_per_sample;
    const auto& ceiling = waterfall.boundaries.back().seconds_per_sample;
    if (!live || !ceiling) return std::nullopt;
    return Claim{"the whole loss", *live - *ceiling, floor.whole};
  }
  if (state.decision.kind != VerdictKind::drop || !state.decision.part) return std::nullopt;
  const Part& part = state.findings.parts[*state.decision.part].part;
  const auto seconds = seconds_of(waterfall, part);
  if (!seconds) return std::nullopt;
  const std::string name = part_name(measured.chain, part);
  if (!holds_copy(measured.chain, part)) return Claim{name, *seconds, floor.of_samples};
  if (!part.single()) return Claim{name, *seconds, floor.whole};
  return Claim{name, *seconds, floor_of_copy(measured, waterfall, floor.whole)};
}

std::optional<Claim> too_cheap(const Measurements& measured, const Waterfall& waterfall,
                               const VerdictState& state, const FloorSeconds& floor) {
  const auto& live = waterfall.boundaries.front().seconds_per_sample;
  if (live && near_floor(*live, floor.whole)) return Claim{"the live pipeline", *live, floor.whole};
  const auto claim = claim_of(measured, waterfall, state, floor);
  return claim && near_floor(claim->cost_seconds, claim->floor_seconds) ? claim : std::nullopt;
}

}  // namespace

std::optional<FloorSeconds> floor_seconds(const CacheFacts& facts, const ChainDescription& chain) {
  if (!facts.floor_seconds_per_sample && !facts.floor_seconds_per_batch) return std::nullopt;
  const int workers = std::max(1, chain.workers);
  const auto batch = static_cast<double>(std::max<std::int64_t>(1, chain.batch_size));
  const double of_samples = facts.floor_seconds_per_sample.value_or(0) / workers;
  return FloorSeconds{of_samples, of_samples + facts.floor_seconds_per_batch.value_or(0) / batch};
}

bool near_floor(double cost_seconds, double floor_seconds) noexcept {
  return floor_seconds > 0 && cost_seconds < kFloorsToTrust * floor_seconds;
}

std::optional<Warning> near_floor_warning(const Measurements& measured, const Waterfall& waterfall,
                                          const VerdictState& state) {
  const auto floor = floor_seconds(measured.cache, measured.chain);
  if (!floor) return std::nullopt;
  const auto claim = too_cheap(measured, waterfall, state, *floor);
  if (!claim) return std::nullopt;
  const bool all = claim->floor_seconds >= claim->cost_seconds;
  return Warning{"near_floor",
                 "No verdict: " + claim->what + " costs " + short_duration(claim->cost_seconds) +
                     " per sample, and " +
                     (all ? "all" : "up to " + short_duration(claim->floor_seconds)) +
                     " of that may be the tool's own cost. Measuring longer would not tell them "
                     "apart.",
                 "use samples that cost as much as those of the real job"};
}

}  // namespace cachebisect
