#include "cachebisect/bisect/phases/explain_arms.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "cachebisect/bisect/phases/explain_columns.hpp"
#include "cachebisect/bisect/phases/rank_payoff.hpp"
#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

/// Stages that are freed in the same rounds: each makes these longer.
constexpr std::size_t kMaxFree = 4;

/// The stage (1-based) that keeps the workers busiest in live blocks; 0 without probes.
int busiest_stage(const std::vector<BlockRecord>& records) {
  std::vector<double> busy;
  for (const BlockRecord& record : records) {
    if (!record.shows_live()) continue;
    const auto& stages = record.result.stages;
    busy.resize(std::max(busy.size(), stages.size()), 0);
    for (std::size_t s = 0; s < stages.size(); ++s) busy[s] += stages[s].busy_seconds;
  }
  const auto most = std::max_element(busy.begin(), busy.end());
  if (most == busy.end() || *most <= 0) return 0;
  return static_cast<int>(most - busy.begin()) + 1;
}

/// The stage that costs most seconds after the leader: whether it gains more is run before the
/// sentence is written.
std::optional<std::size_t> second_largest(const Findings& findings, std::size_t leader) {
  const double least = kMostOf * findings.parts[leader].seconds;
  std::optional<std::size_t> second;
  for (std::size_t i = 0; i < findings.parts.size(); ++i) {
    const Finding& part = findings.parts[i];
    if (i == leader || !part.part.single() || part.seconds < least) continue;
    if (!second || part.seconds > findings.parts[*second].seconds) second = i;
  }
  return second;
}

}  // namespace

std::vector<int> stages_to_free(const VerdictState& state,
                                const std::vector<BlockRecord>& records) {
  const Findings& findings = state.findings;
  const Decision& decision = state.decision;
  std::vector<int> stages;
  const auto want = [&](int stage) {
    const bool known = std::find(stages.begin(), stages.end(), stage) != stages.end();
    if (stage > 0 && !known && stages.size() < kMaxFree) stages.push_back(stage);
  };
  const auto want_part = [&](std::size_t part) {
    if (findings.parts[part].part.single()) want(findings.parts[part].part.to);
  };
  // Freeing a stage cannot win back an anomaly.
  if (decision.kind != VerdictKind::drop && decision.kind != VerdictKind::spread) return stages;
  if (decision.part) want_part(*decision.part);
  if (decision.kind == VerdictKind::drop) {
    if (const auto second = second_largest(findings, *decision.part)) want_part(*second);
  }
  want(busiest_stage(records));
  if (decision.kind == VerdictKind::drop) {
    for (const std::size_t rival : findings.rivals) want_part(rival);
  }
  if (decision.kind == VerdictKind::spread) {
    for (const std::size_t part : half_of_loss(findings)) want_part(part);
  }
  return stages;
}

std::vector<int> stages_beside(const VerdictState& state, const RoundTable& rounds) {
  const int named = named_stage(state);
  const auto freed = rounds.find({.kind = ArmKind::bypass, .stage = named});
  if (state.decision.kind != VerdictKind::drop || !freed || !rounds.visited(*freed)) return {};
  const std::vector<Finding>& parts = state.findings.parts;
  const double lost = parts[*state.decision.part].seconds * rounds.tau(kCeiling);
  if (rounds.tau(kLive) - rounds.tau(*freed) >= kMostOf * lost) return {};
  std::vector<const Finding*> others;
  for (const Finding& part : parts) {
    const bool known = rounds.find({.kind = ArmKind::bypass, .stage = part.part.to}).has_value();
    if (part.part.single() && !known) others.push_back(&part);
  }
  std::ranges::stable_sort(others, std::greater{},
                           [](const Finding* part) { return part->seconds; });
  std::vector<int> stages;
  for (const Finding* const part : others) {
    if (stages.size() < kMaxFree) stages.push_back(part->part.to);
  }
  return stages;
}

std::vector<Arm> arms_to_explain(const Replayer& replayer, VerdictKind verdict, int stages,
                                 const std::vector<int>& free) {
  std::vector<Arm> arms{{.boundary = 0}, {.boundary = stages}};
  std::vector<Arm> wanted{{.observed = false}};
  if (verdict == VerdictKind::flat) {
    arms.pop_back();
  } else {
    wanted.push_back({.kind = ArmKind::shadow});
    for (const int stage : free) wanted.push_back({.kind = ArmKind::bypass, .stage = stage});
    for (const Arm& arm : rank_arms(replayer.describe(), {})) wanted.push_back(arm);
  }
  const std::size_t base = arms.size();
  for (const Arm& arm : wanted) {
    if (replayer.supports(arm)) arms.push_back(arm);
  }
  if (arms.size() == base) arms.clear();
  return arms;
}

int named_stage(const VerdictState& state) {
  if (!state.decision.part) return 0;
  const Part& part = state.findings.parts[*state.decision.part].part;
  return part.single() ? part.to : 0;
}

}  // namespace cachebisect
