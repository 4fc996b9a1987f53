// The rounds that lead to a verdict: the pilot, then complete rounds of all arms of the plan, with
// the evidence checked after each, until a verdict is certified or the budget ends.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/machine_watch.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/bisect/evidence/decision.hpp"
#include "cachebisect/bisect/evidence/findings.hpp"
#include "cachebisect/bisect/evidence/replay_fidelity.hpp"
#include "cachebisect/bisect/phases/extra_arms.hpp"
#include "cachebisect/bisect/phases/pilot.hpp"
#include "cachebisect/bisect/phases/round_arms.hpp"
#include "cachebisect/bisect/phases/round_plan.hpp"
#include "cachebisect/bisect/record/measurements.hpp"
#include "cachebisect/bisect/record/node_watch.hpp"
#include "cachebisect/bisect/record/round_runner.hpp"

namespace cachebisect {

/// What the rounds of a verdict show so far. A function of the measurements alone: the search and
/// the analysis of its result agree.
struct VerdictState {
  /// Boundaries whose replay differs from live, by the blocks of all phases.
  std::vector<Distortion> distortions;
  /// Boundaries after which a stage is cheaper only because the stages before it do not run.
  std::vector<Distortion> slowed;
  /// What each stage's own work takes live: seconds per sample; empty without probes.
  std::vector<double> live_seconds;
  Findings findings;
  Decision decision;
};

/// Needs a complete round.
[[nodiscard]] CACHEBISECT_INTERNAL_API VerdictState judge(const Measurements& measured);

/// What dominant_stage() asks about a part. Refers to `state`.
[[nodiscard]] CACHEBISECT_INTERNAL_API JoinedSpan joined_span(const Measurements& measured,
                                                              const VerdictState& state,
                                                              const Part& part);

/// Not thread safe.
class CACHEBISECT_INTERNAL_API VerdictSearch {
 public:
  /// Keeps references to all; fills the verdict's part of `measured`.
  VerdictSearch(Replayer& replayer, RoundRunner& runner, RoundPlan& plan,
                const BisectOptions& options, Measurements& measured);
  /// Keeps a reference.
  void set_extra_arms(ExtraArms& arms) noexcept { extra_ = &arms; }

  /// Measures; `after_check` is called after each check of the evidence that did not end the
  /// search. Throws as BlockRunner::run does; conclude() then keeps what the complete rounds say.
  void run(RandomStream& random, const std::function<void()>& after_check);
  /// Goes on after a run in one piece if that shows stalls which outweigh the part that leads, and
  /// returns true; conclude() is then due again. Throws as run() does.
  bool resume(RandomStream& random, const std::function<void()>& after_check);
  /// Checks the evidence for the last time.
  void conclude();
  /// Takes a reading of all machines now; run() takes more between the rounds.
  void read_machine();

  /// Empty before the first check.
  [[nodiscard]] const VerdictState& state() const noexcept { return state_; }

 private:
  void measure(RandomStream& random, Pilot& pilot, const std::function<void()>& after_check);
  void explore(Pilot& pilot);
  void name_suspects();
  void keep_enough_samples();
  /// Rounds of a super-round.
  [[nodiscard]] int most_repeats() const;
  /// To what the plan needs if a round takes so long, if the user gave no budget.
  void grow_budget(double round_seconds);
  bool super_round(RandomStream& random);
  /// False when the budget has ended.
  bool run_with_extra_arms(const PlannedRound& round);
  /// Boundaries of which it is open whether a stage after them remembers samples, or is slowed down
  /// live: unseen blocks will tell.
  [[nodiscard]] std::vector<int> open_controls() const;
  /// Whether what they tell may change which stage is named: they lie within the part that leads,
  /// which is not one stage's whichever way they go.
  [[nodiscard]] bool controls_decide() const;
  [[nodiscard]] PlannedBlock unseen_block(int boundary) const;
  void avoid_distorted();
  void check_evidence();
  [[nodiscard]] bool finished() const;
  /// Whether a rival may be told from the leader before `deadline`, in seconds of the budget.
  [[nodiscard]] bool tie_may_end(double deadline) const;
  [[nodiscard]] RoundTable& rounds() noexcept { return measured_->verdict.table; }

  Replayer* replayer_;
  RoundRunner* runner_;
  RoundPlan* plan_;
  const BisectOptions* options_;
  Measurements* measured_;
  RoundArms arms_;
  ExtraArms* extra_ = nullptr;
  std::optional<ReplayFidelity> fidelity_;
  std::optional<PartEvidence> evidence_;
  VerdictState state_;
  MachineWatch machine_;
  NodeWatch other_nodes_;
  std::optional<double> machine_read_at_;
};

}  // namespace cachebisect
