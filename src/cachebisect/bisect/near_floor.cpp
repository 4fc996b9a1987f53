#include "cachebisect/bisect/near_floor.hpp"

#include <algorithm>

#include "cachebisect/bisect/format.hpp"

namespace cachebisect {
namespace {

/// Seconds a sample of what the verdict names: the stage of a drop, the whole loss of a spread.
std::optional<double> named_seconds(const Report& report) {
  const Verdict& verdict = report.verdict;
  if (verdict.kind == VerdictKind::drop && verdict.stage_index > 0) {
    return report.stages[static_cast<std::size_t>(verdict.stage_index) - 1].seconds_per_sample;
  }
  if (verdict.kind != VerdictKind::spread || report.boundaries.empty()) return std::nullopt;
  const auto& live = report.boundaries.front().seconds_per_sample;
  const auto& ceiling = report.boundaries.back().seconds_per_sample;
  return live && ceiling ? std::optional(*live - *ceiling) : std::nullopt;
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

std::optional<double> floor_seconds(const CacheFacts& facts, const ChainDescription& chain) {
  if (!facts.floor_seconds_per_sample && !facts.floor_seconds_per_batch) return std::nullopt;
  const int workers = std::max(1, chain.workers);
  const auto batch = static_cast<double>(std::max<std::int64_t>(1, chain.batch_size));
  return facts.floor_seconds_per_sample.value_or(0) / workers +
         facts.floor_seconds_per_batch.value_or(0) / batch;
}

std::optional<NearFloor> near_floor(std::optional<double> floor_seconds,
                                    std::optional<double> live_seconds,
                                    std::optional<double> named_seconds) {
  if (!floor_seconds || *floor_seconds <= 0) return std::nullopt;
  const double least = kFloorsToTrust * *floor_seconds;
  for (const auto& seconds : {live_seconds, named_seconds}) {
    if (seconds && *seconds < least) return NearFloor{*seconds, *floor_seconds};
  }
  return std::nullopt;
}

std::optional<Warning> refuse_near_floor(Report& report) {
  if (report.boundaries.empty()) return std::nullopt;
  const auto live = report.boundaries.front().seconds_per_sample;
  const auto floor = floor_seconds(report.cache, report.chain);
  const auto found = near_floor(floor, live, named_seconds(report));
  if (!found) return std::nullopt;
  const bool whole = found->cost_seconds == live;
  const std::string named = report.verdict.stage.empty() ? "the loss" : report.verdict.stage;
  const std::string what = whole ? "the live pipeline" : named;
  Warning warning{"near_floor",
                  "No verdict: " + what + " costs " + short_duration(found->cost_seconds) +
                      " a sample, and the tool itself " + short_duration(found->floor_seconds) +
                      ". So cheap a pipeline is measured together with the tool's own cost.",
                  "give samples that cost what the job's own cost; smaller batches do not help"};
  withdraw(report);
  return warning;
}

}  // namespace cachebisect
