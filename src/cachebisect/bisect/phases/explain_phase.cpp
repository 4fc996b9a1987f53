#include "cachebisect/bisect/phases/explain_phase.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/bisect/evidence/power.hpp"
#include "cachebisect/bisect/phases/answers_rule.hpp"
#include "cachebisect/bisect/phases/cache_check.hpp"
#include "cachebisect/bisect/phases/explain_arms.hpp"
#include "cachebisect/bisect/phases/rank_payoff.hpp"
#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

/// What the cost of the probes is worth: of all rounds that explain a flat verdict, and of the
/// blocks without probes in others.
constexpr double kProbeSeconds = 1.0;
/// Rounds vary in length, and the first few intervals are wide.
constexpr double kMargin = 1.3;

}  // namespace

ExplainPhase::ExplainPhase(Replayer& replayer, RoundRunner& runner, const RoundPlan& plan,
                           const BisectOptions& options, Measurements& measured)
    : replayer_(&replayer),
      runner_(&runner),
      plan_(&plan),
      options_(&options),
      measured_(&measured) {}

void ExplainPhase::run(const VerdictState& state, const EarlyExplanation& early,
                       const std::function<void()>& after_round) {
  try {
    compare_arms(state, early, after_round);
    free_others(state, early, after_round);
    narrow_ranks(state, early, after_round);
    if (options_->verify) check_cache(state, after_round);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    measured_->explain.fault = error.what();
  }
}

bool ExplainPhase::is_piloted(const Arm& arm) const {
  return arm.kind == ArmKind::replay && arm.ranks.is_all() && plan_->piloted(arm.boundary);
}

std::vector<TimedArm> ExplainPhase::timed(const std::vector<Arm>& arms) const {
  std::vector<TimedArm> result;
  result.reserve(arms.size());
  for (const Arm& arm : arms) {
    result.push_back({arm, plan_->step_seconds(is_piloted(arm) ? arm.boundary : 0)});
  }
  return result;
}

void ExplainPhase::pilot_unknown(std::vector<TimedArm>& arms, const std::vector<TimedArm>& known) {
  bool begun = false;
  for (TimedArm& timed : arms) {
    if (is_piloted(timed.arm)) continue;
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const TimedArm& other) { return other.arm == timed.arm; });
    if (found != known.end()) {
      timed.step_seconds = found->step_seconds;
      continue;
    }
    if (!begun) runner_->blocks().begin_round(-1);
    begun = true;
    timed.step_seconds =
        pilot_step_seconds(runner_->blocks(), plan_->lengths(), timed.arm, timed.step_seconds);
  }
}

void ExplainPhase::compare_arms(const VerdictState& state, const EarlyExplanation& early,
                                const std::function<void()>& after_round) {
  BlockRunner& blocks = runner_->blocks();
  const VerdictKind kind = state.decision.kind;
  const auto arms = arms_to_explain(*replayer_, kind, measured_->stages(),
                                    stages_to_free(state, blocks.records()));
  if (arms.empty()) return;
  std::vector<TimedArm> all = timed(arms);
  if (kind != VerdictKind::flat) leave_out_slow_probes(all);
  RoundTable table = early.table().with_arms(columns_of(all));
  const AnswersRule rule(1 - options_->confidence);
  const auto done = static_cast<int>(table.rounds());
  if (done > 0) {
    measured_->explain.arms = table;
    if (rule.enough(table)) return;
  }
  const int first = first_round(early);
  if (!is_worth_a_start(kind, repeated_rounds(plan_->lengths(), all, first, 0).round_seconds))
    return;
  pilot_unknown(all, early.timed());
  RepeatedRounds rounds = repeated_rounds(plan_->lengths(), all, first, 0);
  rounds.max_rounds += table.rounds();
  // One super-round gives intervals: of six rounds, or of three after the verdict's three.
  rounds.repeats = done > 0 ? kUsualRepeats : kMaxRepeats;
  rounds.first.until = blocks.elapsed() + seconds_to_explain(kind, rounds.round_seconds);
  runner_->repeat(rounds, rule, measured_->explain.arms.emplace(std::move(table)), after_round);
}

int ExplainPhase::first_round(const EarlyExplanation& early) const {
  return static_cast<int>(measured_->verdict.table.rounds()) -
         static_cast<int>(early.table().rounds());
}

void ExplainPhase::narrow_ranks(const VerdictState& state, const EarlyExplanation& early,
                                const std::function<void()>& after_round) {
  const double alpha = 1 - options_->confidence;
  std::vector<RankRange> tried;
  while (measured_->explain.arms) {
    const auto slow = slow_ranks(*measured_->explain.arms, alpha);
    if (!slow || std::ranges::find(tried, *slow) != tried.end()) return;
    compare_more({.boundary = measured_->stages(), .ranks = *slow},
                 rank_arms(measured_->chain, *slow), state.decision.kind, first_round(early),
                 after_round);
    tried.push_back(*slow);
  }
}

void ExplainPhase::free_others(const VerdictState& state, const EarlyExplanation& early,
                               const std::function<void()>& after_round) {
  if (!measured_->explain.arms) return;
  std::vector<Arm> others;
  for (const int stage : stages_beside(state, *measured_->explain.arms)) {
    others.push_back({.kind = ArmKind::bypass, .stage = stage});
  }
  const Arm named{.kind = ArmKind::bypass, .stage = named_stage(state)};
  compare_more(named, std::move(others), state.decision.kind, first_round(early), after_round);
}

void ExplainPhase::compare_more(const Arm& known, std::vector<Arm> more, VerdictKind kind,
                                int first_round, const std::function<void()>& after_round) {
  std::erase_if(more, [&](const Arm& arm) { return !replayer_->supports(arm); });
  if (more.empty()) return;
  std::vector<Arm> arms{{.boundary = 0}, {.boundary = measured_->stages()}, known};
  arms.insert(arms.end(), more.begin(), more.end());
  std::vector<TimedArm> all = timed(arms);
  if (!is_worth_a_start(kind, repeated_rounds(plan_->lengths(), all, first_round, 0).round_seconds))
    return;
  pilot_unknown(all, {});
  RoundTable& table = *measured_->explain.arms;
  const AnswersRule rule(1 - options_->confidence, table.last() + 1);
  std::vector<Arm> columns = table.arms();
  columns.insert(columns.end(), more.begin(), more.end());
  table = table.with_arms(std::move(columns));
  RepeatedRounds rounds = repeated_rounds(plan_->lengths(), all, first_round, 0);
  rounds.max_rounds += table.rounds();
  rounds.repeats = kMaxRepeats;
  rounds.first.until = runner_->blocks().elapsed() + seconds_to_explain(kind, rounds.round_seconds);
  runner_->repeat(rounds, rule, table, after_round);
}

/// Probes limit themselves to a fraction of a percent; a report can do without the figure.
void ExplainPhase::leave_out_slow_probes(std::vector<TimedArm>& arms) const {
  const auto slow = [&](const TimedArm& timed) {
    return !timed.arm.observed && min_seconds(plan_->lengths().block_seconds(
                                      timed.arm, timed.step_seconds)) > kProbeSeconds;
  };
  constexpr std::size_t kEnds = 2;
  if (arms.size() > kEnds + 1) std::erase_if(arms, slow);
}

/// A few rounds show something, but the cost of the probes is nothing without an interval.
bool ExplainPhase::is_worth_a_start(VerdictKind kind, double round_seconds) const {
  const double left = runner_->blocks().left();
  return kind == VerdictKind::flat ? min_seconds(round_seconds) <= std::min(kProbeSeconds, left)
                                   : kUsualRepeats * round_seconds <= left;
}

/// What as many rounds take as an interval needs.
double ExplainPhase::min_seconds(double round_seconds) const {
  return round_seconds * Power{.alpha = 1 - options_->confidence, .weight = 1}.min_rounds();
}

/// As long as the verdict took; longer only to have an interval at all.
double ExplainPhase::seconds_to_explain(VerdictKind kind, double round_seconds) const {
  const double usual = kind == VerdictKind::flat ? kProbeSeconds
                                                 : std::max(measured_->verdict.seconds,
                                                            kMargin * min_seconds(round_seconds));
  return std::min(usual, runner_->blocks().left());
}

void ExplainPhase::check_cache(const VerdictState& state,
                               const std::function<void()>& after_round) {
  if (state.decision.kind != VerdictKind::drop) return;
  const auto boundary = boundary_to_check(measured_->chain, named_stage(state));
  if (!boundary || !replayer_->supports({.boundary = *boundary})) return;
  const std::uint64_t samples = measured_->cache.samples;
  const std::vector<TimedArm> arms = cache_arms(*boundary, samples, plan_->step_seconds(*boundary));
  const auto explained = measured_->explain.arms ? measured_->explain.arms->rounds() : 0;
  const int first = static_cast<int>(measured_->verdict.table.rounds() + explained);
  RepeatedRounds rounds = repeated_rounds(plan_->lengths(), arms, first, 0);
  if (min_seconds(rounds.round_seconds) > kExtraSeconds) return;
  BlockRunner& blocks = runner_->blocks();
  if (!can_afford_larger_cache(measured_->cache, blocks.left())) return;
  blocks.set_fresh_samples(0);
  const double before = blocks.clock();
  const bool filled = replayer_->refill(2 * samples, options_->stop).has_value();
  const double fill_seconds = blocks.exclude_since(before);
  if (!filled) return;
  blocks.set_phase(BlockPhase::check_cache);
  CacheRounds& check =
      measured_->explain.caches.emplace(CacheRounds{RoundTable(columns_of(arms)), fill_seconds});
  rounds.first.until = std::min(blocks.budget(), blocks.elapsed() + kMargin * kExtraSeconds);
  runner_->repeat(rounds, CacheRule(1 - options_->confidence), check.table, after_round);
}

}  // namespace cachebisect
