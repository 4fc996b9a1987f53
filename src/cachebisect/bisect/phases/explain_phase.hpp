// The rounds that follow a certified verdict, within what is left of the budget: payoff,
// starvation, contention, the cost of the probes, and whether the caches are large enough. They
// never change the verdict.
#pragma once

#include <functional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/phases/arm_rounds.hpp"
#include "cachebisect/bisect/phases/early_explanation.hpp"
#include "cachebisect/bisect/phases/verdict_search.hpp"
#include "cachebisect/bisect/record/measurements.hpp"

namespace cachebisect {

/// Not thread safe.
class CACHEBISECT_INTERNAL_API ExplainPhase {
 public:
  /// Keeps references to all; fills the explaining part of `measured`.
  ExplainPhase(Replayer& replayer, RoundRunner& runner, const RoundPlan& plan,
               const BisectOptions& options, Measurements& measured);

  /// Runs the phase; goes on with the rounds of `early`. `after_round` is called after each
  /// complete round. An error of the replayer ends the phase and is kept for the report. Throws
  /// Error(interrupted) on a stop; what is known is kept.
  void run(const VerdictState& state, const EarlyExplanation& early,
           const std::function<void()>& after_round);

 private:
  void compare_arms(const VerdictState& state, const EarlyExplanation& early,
                    const std::function<void()>& after_round);
  /// Tries the parts of the ranks that hold up the others, until single ranks are left.
  void narrow_ranks(const VerdictState& state, const EarlyExplanation& early,
                    const std::function<void()>& after_round);
  /// Frees other stages where freeing the named one wins back little of what it costs.
  void free_others(const VerdictState& state, const EarlyExplanation& early,
                   const std::function<void()>& after_round);
  /// Compares more arms, those of them that can run, with live, the ceiling and `known`, which is
  /// one of the table's.
  void compare_more(const Arm& known, std::vector<Arm> more, VerdictKind kind, int first_round,
                    const std::function<void()>& after_round);
  /// Number of the first round of the table of arms: its rounds have the last numbers of the
  /// verdict's.
  [[nodiscard]] int first_round(const EarlyExplanation& early) const;
  void check_cache(const VerdictState& state, const std::function<void()>& after_round);
  [[nodiscard]] bool is_piloted(const Arm& arm) const;
  /// Arms with the step time that the plan knows; live's for those it does not know.
  [[nodiscard]] std::vector<TimedArm> timed(const std::vector<Arm>& arms) const;
  void leave_out_slow_probes(std::vector<TimedArm>& arms) const;
  /// Times the steps of arms that neither the plan nor `known` has.
  void pilot_unknown(std::vector<TimedArm>& arms, const std::vector<TimedArm>& known);
  [[nodiscard]] bool is_worth_a_start(VerdictKind kind, double round_seconds) const;
  [[nodiscard]] double min_seconds(double round_seconds) const;
  [[nodiscard]] double seconds_to_explain(VerdictKind kind, double round_seconds) const;

  Replayer* replayer_;
  RoundRunner* runner_;
  const RoundPlan* plan_;
  const BisectOptions* options_;
  Measurements* measured_;
};

}  // namespace cachebisect
