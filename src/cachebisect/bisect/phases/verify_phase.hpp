// Runs what was only predicted: what-ifs and remedies as arms of rounds of their own, each
// alongside the live pipeline.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cachebisect/base/estimate.hpp"
#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/phases/arm_rounds.hpp"
#include "cachebisect/bisect/phases/round_plan.hpp"
#include "cachebisect/bisect/record/measurements.hpp"

namespace cachebisect {

/// Not thread safe.
class CACHEBISECT_INTERNAL_API VerifyPhase {
 public:
  /// Keeps references to all; fills the verification of `measured`.
  VerifyPhase(const Replayer& replayer, RoundRunner& runner, const RoundPlan& plan,
              Measurements& measured);

  /// A pilot block of each arm, then rounds, until the intervals are narrow enough, 16 rounds are
  /// done or the budget ends; `after_round` is called after each. An arm that fails is left out,
  /// and its fault kept. Throws Error(interrupted) on a stop; what is known is kept.
  void run(const std::vector<Arm>& arms, const std::function<void()>& after_round);

 private:
  /// Why an arm cannot be run; empty if it can.
  [[nodiscard]] std::string why_not(const Arm& arm) const;
  void pilot(VerifiedArm& arm, std::vector<TimedArm>& running);

  const Replayer* replayer_;
  RoundRunner* runner_;
  const RoundPlan* plan_;
  Measurements* measured_;
};

/// What became of an arm that was to be verified.
struct Verification {
  Estimate speedup;   ///< throughput over that of live; empty if it was not run
  std::string fault;  ///< why it was not run, or not to the end
};

/// Empty if the arm was not asked for.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<Verification> verification_of(
    const Measurements& measured, const Arm& arm);

}  // namespace cachebisect
