#include "cachebisect/bisect/report/near_floor.hpp"

#include <algorithm>

#include "cachebisect/bisect/report/format.hpp"

namespace cachebisect {
namespace {

/// A cost that is claimed, and the part of the tool's own that lies in it.
struct Claim {
  std::string what;
  double cost_seconds = 0;
  double floor_seconds = 0;
};

/// Whether the stage, or the span that begins with it, holds the copy.
bool holds_copy(const Report& report, std::size_t first) {
  const std::string& span = report.stages[first].span;
  for (std::size_t s = first; s < report.stages.size(); ++s) {
    if (s != first && (span.empty() || report.stages[s].span != span)) return false;
    if (report.stages[s].category == Category::copy) return true;
  }
  return false;
}

/// Seconds a sample that the training thread is busy with the input for free, neither starved nor
/// waiting for the device; none where no block tells.
std::optional<double> trainer_seconds_at_ceiling(const Report& report) {
  const Arm ceiling{.boundary = static_cast<int>(report.boundaries.size()) - 1};
  double seconds = 0;
  double samples = 0;
  for (const BlockRecord& record : report.blocks) {
    if (record.round < 0 || record.result.is_void || record.arm != ceiling) continue;
    seconds += record.result.trainer_seconds;
    samples += static_cast<double>(record.result.samples);
  }
  return seconds > 0 && samples > 0 ? std::optional(seconds / samples) : std::nullopt;
}

/// How much of the tool's cost can lie in what the copy alone costs. A training thread that does
/// not wait for its device runs ahead of it: handing batches over hides behind the step, as far as
/// both fit into its time.
double floor_of_copy(const Report& report, double whole) {
  const ChainDescription& chain = report.chain;
  const bool waits = chain.sync_every > 0 || !chain.copy_pinned || !chain.copy_non_blocking;
  const auto busy = trainer_seconds_at_ceiling(report);
  const auto& step = report.boundaries.back().seconds_per_sample;
  if (waits || !busy || !step) return whole;
  return std::clamp(*busy + whole - *step, 0.0, whole);
}

std::optional<Claim> named(const Report& report, const FloorSeconds& floor) {
  const Verdict& verdict = report.verdict;
  if (verdict.kind == VerdictKind::spread) {
    const auto& live = report.boundaries.front().seconds_per_sample;
    const auto& ceiling = report.boundaries.back().seconds_per_sample;
    if (!live || !ceiling) return std::nullopt;
    return Claim{"the whole loss", *live - *ceiling, floor.whole};
  }
  if (verdict.kind != VerdictKind::drop || verdict.stage_index < 1) return std::nullopt;
  const auto index = static_cast<std::size_t>(verdict.stage_index) - 1;
  const auto& seconds = report.stages[index].seconds_per_sample;
  if (!seconds) return std::nullopt;
  if (!holds_copy(report, index)) return Claim{verdict.stage, *seconds, floor.of_samples};
  const bool alone = report.stages[index].span.empty();
  return Claim{verdict.stage, *seconds, alone ? floor_of_copy(report, floor.whole) : floor.whole};
}

std::optional<Claim> too_cheap(const Report& report, const FloorSeconds& floor) {
  const auto& live = report.boundaries.front().seconds_per_sample;
  if (live && near_floor(*live, floor.whole)) return Claim{"the live pipeline", *live, floor.whole};
  const auto claim = named(report, floor);
  return claim && near_floor(claim->cost_seconds, claim->floor_seconds) ? claim : std::nullopt;
}

void withdraw(Report& report) {
  const int rounds = report.verdict.rounds;
  const auto detectable = report.verdict.detectable_drop;
  report.verdict = {};
  report.verdict.rounds = rounds;
  report.verdict.detectable_drop = detectable;
  for (StageReport& stage : report.stages) stage.certified = false;
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

std::optional<Warning> refuse_near_floor(Report& report) {
  const auto floor = floor_seconds(report.cache, report.chain);
  if (report.boundaries.empty() || !floor) return std::nullopt;
  const auto claim = too_cheap(report, *floor);
  if (!claim) return std::nullopt;
  withdraw(report);
  const bool all = claim->floor_seconds >= claim->cost_seconds;
  return Warning{"near_floor",
                 "No verdict: " + claim->what + " costs " + short_duration(claim->cost_seconds) +
                     " a sample, and " +
                     (all ? "all" : "up to " + short_duration(claim->floor_seconds)) +
                     " of that may be the tool's own cost. Measuring longer would not tell them "
                     "apart.",
                 "give samples that cost what the job's own cost"};
}

}  // namespace cachebisect
