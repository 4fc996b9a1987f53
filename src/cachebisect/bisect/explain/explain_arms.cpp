// What the rounds after a verdict compare: which stages to free, and the arms that answer.
#include <algorithm>

#include "cachebisect/bisect/explain/explain.hpp"

namespace cachebisect {
namespace {

constexpr std::size_t kMostFree = 4;

/// The stage (1-based) that keeps the workers busiest in live blocks; 0 where no probe says.
int busiest_stage(const std::vector<BlockRecord>& records) {
  std::vector<double> busy;
  for (const BlockRecord& record : records) {
    if (record.round < 0 || record.arm != Arm{} || record.result.is_void) continue;
    const auto& stages = record.result.stages;
    busy.resize(std::max(busy.size(), stages.size()), 0);
    for (std::size_t s = 0; s < stages.size(); ++s) busy[s] += stages[s].busy_seconds;
  }
  const auto most = std::max_element(busy.begin(), busy.end());
  if (most == busy.end() || *most <= 0) return 0;
  return static_cast<int>(most - busy.begin()) + 1;
}

}  // namespace

std::vector<int> stages_to_free(const Findings& findings, const Decision& decision,
                                const std::vector<BlockRecord>& records) {
  std::vector<int> stages;
  const auto want = [&](int stage) {
    const bool known = std::find(stages.begin(), stages.end(), stage) != stages.end();
    if (stage > 0 && !known && stages.size() < kMostFree) stages.push_back(stage);
  };
  const auto want_part = [&](std::size_t part) {
    if (findings.parts[part].part.single()) want(findings.parts[part].part.to);
  };
  // An anomaly is no loss that freeing a stage could win back.
  if (decision.kind != VerdictKind::drop && decision.kind != VerdictKind::spread) return stages;
  if (decision.part) want_part(*decision.part);
  want(busiest_stage(records));
  if (decision.kind == VerdictKind::drop) {
    for (const std::size_t rival : findings.rivals) want_part(rival);
  }
  if (decision.kind == VerdictKind::spread) {
    for (const std::size_t part : half_of_loss(findings)) want_part(part);
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
  }
  const std::size_t base = arms.size();
  for (const Arm& arm : wanted) {
    if (replayer.supports(arm)) arms.push_back(arm);
  }
  if (arms.size() == base) arms.clear();
  return arms;
}

}  // namespace cachebisect
