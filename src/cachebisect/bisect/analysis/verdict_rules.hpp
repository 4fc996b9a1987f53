// How a run is judged: rules in a fixed order, each of which takes what the rules before it have
// decided and may change it. The verdict is what the last one leaves.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/analysis/explanation.hpp"
#include "cachebisect/bisect/analysis/sustained_runs.hpp"
#include "cachebisect/bisect/analysis/waterfall.hpp"

namespace cachebisect {

/// What rules look at. References must outlive it. `findings` of the state are those that the runs
/// in one piece have widened.
struct JudgedRun {
  const Measurements& measured;
  const VerdictState& state;  ///< empty before the first complete round
  const Waterfall& waterfall;
  const SustainedFigures& sustained;
  const Explanation& explanation;
  const std::optional<Forecast>& forecast;  ///< may be empty
};

struct Judgement {
  VerdictKind kind = VerdictKind::inconclusive;
  std::optional<std::size_t> part;  ///< which is named: index in Findings::parts
  int stage = 0;                    ///< (1-based) of that part, the one to point at; 0: none
  std::string stage_name;           ///< what the verdict names: the part, or a stage of it
  Estimate loss;                    ///< of throughput: a flat verdict's, if not that of the blocks
  /// Why the verdict of the blocks does not stand, in sentences; empty if it does.
  std::string withdrawn;
  /// More rounds would not change it.
  bool final = false;
  std::optional<Warning> warning;  ///< that a rule gives with its reason
  std::string fix_first;           ///< name of the stage that is worth most to fix; may be empty
  std::optional<RankRange> ranks;  ///< of a distributed job: those that hold up the others
};

/// A rule; its name is for messages of tests.
struct VerdictRule {
  const char* name;
  Judgement (*apply)(Judgement, const JudgedRun&);
};

/// blocks: what their evidence certifies. fidelity: which stage of a span its loss belongs to.
/// floor: no verdict about costs that may be the tool's own. in_one_piece: what a long run leaves
/// of it. fix_first: what to do about it.
[[nodiscard]] CACHEBISECT_INTERNAL_API const std::array<VerdictRule, 5>& verdict_rules();

/// Applies the rules one after the other.
[[nodiscard]] CACHEBISECT_INTERNAL_API Judgement judge_by_rules(const JudgedRun& run);

}  // namespace cachebisect
