#include "cachebisect/bisect/phases/early_explanation.hpp"

#include <algorithm>
#include <utility>

#include "cachebisect/bisect/evidence/decision.hpp"
#include "cachebisect/bisect/phases/answers_rule.hpp"

namespace cachebisect {
namespace {

/// Share of the time of a round that the extra blocks may take.
constexpr double kMaxShare = 0.4;

/// The stage (1-based) that every round shows above `min_drop`, and that costs most; 0 if none
/// does.
int suspected_stage(const VerdictState& state, const RoundTable& rounds, double min_drop) {
  const std::vector<Finding>& parts = state.findings.parts;
  const auto most =
      std::max_element(parts.begin(), parts.end(),
                       [](const Finding& a, const Finding& b) { return a.seconds < b.seconds; });
  if (most == parts.end() || !most->part.single() || most->rounds == 0) return 0;
  const std::vector<double> losses = rounds.log_ratios(most->part.from, most->part.to);
  const double bar = drop_to_theta(min_drop);
  const bool agree = std::all_of(losses.begin(), losses.end(), [&](double l) { return l > bar; });
  return agree ? most->part.to : 0;
}

}  // namespace

EarlyExplanation::EarlyExplanation(const Replayer& replayer, BlockRunner& blocks,
                                   const RoundPlan& plan, const BisectOptions& options)
    : replayer_(&replayer),
      blocks_(&blocks),
      plan_(&plan),
      options_(&options),
      table_({{.boundary = 0}, {.boundary = plan.candidates().back()}}) {}

std::vector<PlannedBlock> EarlyExplanation::next(const VerdictState& state,
                                                 const RoundTable& rounds) {
  const int stage = suspected_stage(state, rounds, options_->min_drop);
  if (stage == 0) return {};
  std::vector<Arm> arms{{.kind = ArmKind::shadow}, {.kind = ArmKind::bypass, .stage = stage}};
  std::erase_if(arms, [&](const Arm& arm) { return !replayer_->supports(arm); });
  if (has_answers(arms)) return {};
  std::vector<TimedArm> timed = expected(arms);
  if (!is_cheap(timed)) return {};
  timed = measured(std::move(timed));
  if (!is_cheap(timed)) return {};
  std::vector<PlannedBlock> blocks;
  blocks.reserve(timed.size());
  for (const TimedArm& arm : timed)
    blocks.push_back(plan_->lengths().block(arm.arm, arm.step_seconds));
  return blocks;
}

bool EarlyExplanation::has_answers(const std::vector<Arm>& arms) const {
  if (table_.rounds() == 0) return false;
  std::vector<Arm> columns{table_.arms()[0], table_.arms()[1]};
  columns.insert(columns.end(), arms.begin(), arms.end());
  return AnswersRule(1 - options_->confidence).enough(table_.with_arms(std::move(columns)));
}

bool EarlyExplanation::is_cheap(const std::vector<TimedArm>& arms) const {
  double seconds = 0;
  for (const TimedArm& arm : arms)
    seconds += plan_->lengths().block_seconds(arm.arm, arm.step_seconds);
  return seconds <= kMaxShare * plan_->round_seconds();
}

std::vector<TimedArm> EarlyExplanation::expected(const std::vector<Arm>& arms) const {
  const double live = plan_->step_seconds(0);
  const double ceiling = plan_->step_seconds(plan_->candidates().back());
  std::vector<TimedArm> result;
  result.reserve(arms.size());
  for (const Arm& arm : arms) {
    const int s = arm.kind == ArmKind::bypass ? arm.stage : 0;
    const bool known = s > 0 && plan_->piloted(s - 1) && plan_->piloted(s);
    const double freed = known ? plan_->step_seconds(s - 1) - plan_->step_seconds(s) : live;
    result.push_back({arm, std::max(ceiling, live - freed)});
  }
  return result;
}

std::vector<TimedArm> EarlyExplanation::measured(std::vector<TimedArm> arms) {
  for (TimedArm& timed : arms) {
    const auto known = std::find_if(known_.begin(), known_.end(),
                                    [&](const TimedArm& other) { return other.arm == timed.arm; });
    if (known != known_.end()) {
      timed.step_seconds = known->step_seconds;
      continue;
    }
    blocks_->begin_round(-1);
    timed.step_seconds =
        pilot_step_seconds(*blocks_, plan_->lengths(), timed.arm, timed.step_seconds);
    known_.push_back(timed);
    std::vector<Arm> columns = table_.arms();
    columns.push_back(timed.arm);
    table_ = table_.with_arms(std::move(columns));
  }
  return arms;
}

}  // namespace cachebisect
