// The rounds after a verdict that explain it: what each candidate alone made free would give, how
// much of the loss is starvation and how much contention, and what the inline probes cost.
#pragma once

#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/bisect/explain/explanation.hpp"
#include "cachebisect/bisect/record/arm_table.hpp"
#include "cachebisect/bisect/record/block_runner.hpp"
#include "cachebisect/bisect/search/plan.hpp"
#include "cachebisect/bisect/search/verdict.hpp"

namespace cachebisect {

/// Stages (1-based) whose payoff is worth measuring, at most four: of a drop the leader, the
/// busiest by the inline probes of live blocks, and those that may be as large as the leader; of a
/// spread the busiest and those that hold half of the loss. None for other verdicts.
[[nodiscard]] CACHEBISECT_API std::vector<int> stages_to_free(
    const Findings& findings, const Decision& decision, const std::vector<BlockRecord>& records);

/// The arms that answer, as far as the replayer has them: live and ceiling first. For `flat`, live
/// with and without probes alone. Empty where there is nothing to compare.
[[nodiscard]] CACHEBISECT_API std::vector<Arm> arms_to_explain(const Replayer& replayer,
                                                               VerdictKind verdict, int stages,
                                                               const std::vector<int>& free);

struct ExplainOptions {
  double confidence = 0.99;
  double most_seconds = 1e9;  ///< of these rounds
  int first_round = 0;        ///< number of the first of them in the report's blocks
  int least_rounds = 3;       ///< not begun where so many will not fit
  int verdict_stage = 0;      ///< 1-based; 0 when the verdict names none
};

/// Not thread safe.
class CACHEBISECT_API Explainer {
 public:
  /// Keeps references to runner, plan and chain.
  Explainer(BlockRunner& runner, const Plan& plan, const ChainDescription& chain,
            std::vector<Arm> arms, const ExplainOptions& options);

  /// Runs one more round, before the first a pilot block of each arm of unknown length. False, with
  /// no round run or a partial one thrown away, when the intervals are narrow enough (1% to either
  /// side, or a tenth of the gain or loss that they are about), 16 rounds are done or the next
  /// would not fit into the budget. Throws as BlockRunner::run does; only complete rounds count.
  bool round(RandomStream& random);
  /// Of the complete rounds; `findings` of the verdict's rounds.
  [[nodiscard]] Explanation explanation(const Findings& findings) const;
  [[nodiscard]] int rounds() const { return static_cast<int>(table_.rounds()); }

 private:
  void pilot();
  [[nodiscard]] int steps(std::size_t arm) const;
  [[nodiscard]] double left() const;
  [[nodiscard]] double round_seconds() const;
  /// Whether an arm's answer is narrow enough for its use; `loss`: log of live over ceiling.
  [[nodiscard]] bool known(std::size_t arm, double loss) const;
  [[nodiscard]] bool narrow_enough() const;
  [[nodiscard]] std::vector<std::size_t> shuffled(RandomStream& random) const;
  [[nodiscard]] std::vector<Payoff> payoffs(const Findings& findings) const;
  [[nodiscard]] int pays_most(const std::vector<Payoff>& payoffs) const;
  void split_loss(Explanation& out) const;

  BlockRunner* runner_;
  const Plan* plan_;
  const ChainDescription* chain_;
  ExplainOptions options_;
  ArmTable table_;
  std::vector<double> step_seconds_;  ///< by arm
  std::vector<std::size_t> unknown_;  ///< arms that have no pilot: taken to be as slow as live
  double started_ = 0;
  double alpha_;
};

}  // namespace cachebisect
