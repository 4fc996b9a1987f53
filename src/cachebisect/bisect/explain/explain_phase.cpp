#include "cachebisect/bisect/explain/explain_phase.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "cachebisect/base/error.hpp"
#include "cachebisect/bisect/evidence/power.hpp"
#include "cachebisect/bisect/explain/answers_rule.hpp"
#include "cachebisect/bisect/explain/cache_check.hpp"
#include "cachebisect/bisect/explain/explain_arms.hpp"

namespace cachebisect {
namespace {

/// A flat verdict comes fast and needs no explanation but the cost of the probes.
constexpr double kFlatSeconds = 1.0;
constexpr int kMinRounds = 3;

}  // namespace

ExplainPhase::ExplainPhase(Replayer& replayer, RoundRunner& runner, const RoundPlan& plan,
                           const BisectOptions& options, Measurements& measured)
    : replayer_(&replayer),
      runner_(&runner),
      plan_(&plan),
      options_(&options),
      measured_(&measured) {}

void ExplainPhase::run(const VerdictState& state, const std::function<void()>& after_round) {
  try {
    compare_arms(state, after_round);
    check_cache(state, after_round);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    measured_->explain.fault = error.what();
  }
}

std::vector<TimedArm> ExplainPhase::timed(const std::vector<Arm>& arms) const {
  std::vector<TimedArm> result;
  for (const Arm& arm : arms) {
    const bool known = arm.kind == ArmKind::replay && plan_->piloted(arm.boundary);
    result.push_back({arm, plan_->step_seconds(known ? arm.boundary : 0)});
  }
  return result;
}

void ExplainPhase::pilot_unknown(std::vector<TimedArm>& arms) {
  const auto unknown = [&](const TimedArm& timed) {
    return timed.arm.kind != ArmKind::replay || !plan_->piloted(timed.arm.boundary);
  };
  if (std::none_of(arms.begin(), arms.end(), unknown)) return;
  runner_->blocks().begin_round(-1);
  for (TimedArm& timed : arms) {
    if (!unknown(timed)) continue;
    timed.step_seconds =
        pilot_step_seconds(runner_->blocks(), *plan_, timed.arm, timed.step_seconds);
  }
}

void ExplainPhase::compare_arms(const VerdictState& state,
                                const std::function<void()>& after_round) {
  BlockRunner& blocks = runner_->blocks();
  const VerdictKind kind = state.decision.kind;
  const auto arms = arms_to_explain(*replayer_, kind, measured_->stages(),
                                    stages_to_free(state, blocks.records()));
  if (arms.empty()) return;
  int min_rounds = kMinRounds;
  double until = blocks.budget();
  if (kind == VerdictKind::flat) {
    until = std::min(until, blocks.elapsed() + kFlatSeconds);
    min_rounds = Power{.alpha = 1 - options_->confidence, .weight = 1}.min_rounds();
  }
  std::vector<TimedArm> all = timed(arms);
  const int first = static_cast<int>(measured_->verdict.table.rounds());
  const double expected = repeated_rounds(*plan_, all, first, until).round_seconds;
  if (min_rounds * expected > until - blocks.elapsed()) return;
  pilot_unknown(all);
  RoundTable& table = measured_->explain.arms.emplace(table_of(all));
  runner_->repeat(repeated_rounds(*plan_, all, first, until), AnswersRule(1 - options_->confidence),
                  table, after_round);
}

void ExplainPhase::check_cache(const VerdictState& state,
                               const std::function<void()>& after_round) {
  if (state.decision.kind != VerdictKind::drop) return;
  const auto boundary = boundary_to_check(measured_->chain, named_stage(state));
  if (!boundary || !replayer_->supports({.boundary = *boundary})) return;
  BlockRunner& blocks = runner_->blocks();
  if (!can_afford_larger_cache(measured_->cache, blocks.left())) return;
  blocks.set_fresh_samples(0);
  const double before = blocks.clock();
  const std::uint64_t samples = measured_->cache.samples;
  const bool filled = replayer_->refill(2 * samples, options_->stop).has_value();
  const double seconds = blocks.exclude_since(before);
  if (!filled) return;
  const std::vector<TimedArm> arms = cache_arms(*boundary, samples, plan_->step_seconds(*boundary));
  CacheRounds& rounds = measured_->explain.caches.emplace(CacheRounds{table_of(arms), seconds});
  const auto explained = measured_->explain.arms ? measured_->explain.arms->rounds() : 0;
  const int first = static_cast<int>(measured_->verdict.table.rounds() + explained);
  runner_->repeat(repeated_rounds(*plan_, arms, first, blocks.budget()),
                  CacheRule(1 - options_->confidence), rounds.table, after_round);
}

}  // namespace cachebisect
