// Runs what was only predicted: what-ifs and remedies as arms of rounds of their own, each beside
// the live pipeline in a random order.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/bisect/record/arm_table.hpp"
#include "cachebisect/bisect/record/block_runner.hpp"
#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/bisect/search/plan.hpp"

namespace cachebisect {

/// What became of one arm.
struct VerifiedArm {
  Arm arm;
  Estimate speedup;   ///< its throughput over the live one's; absent where it was not run
  std::string fault;  ///< why it was not run, or not to the end
};

/// The arm that runs a remedy's edits; none where they cannot be set by path (a stage added or
/// removed) or where there are none.
[[nodiscard]] CACHEBISECT_API std::optional<Arm> arm_of(const Remedy& remedy);

/// Puts what was measured beside what-ifs and remedies, by their arms.
CACHEBISECT_API void fill_verification(Report& report, const std::vector<VerifiedArm>& verified);

/// Not thread safe.
class CACHEBISECT_API Verifier {
 public:
  /// The arms that `report`'s what-ifs and remedies ask for, each once. Keeps references to
  /// replayer, runner and plan.
  Verifier(const Replayer& replayer, BlockRunner& runner, const Plan& plan, const Report& report);

  /// A pilot block of each arm, then rounds, until the intervals are narrow enough, 16 are done or
  /// the budget ends; `after_round` is called after each. An arm that fails is left out, and its
  /// fault kept. Throws Error(interrupted) on a stop, with what is known kept.
  void run(RandomStream& random, const std::function<void()>& after_round);
  [[nodiscard]] std::vector<VerifiedArm> verified() const;

 private:
  struct Candidate {
    Arm arm;
    double step_seconds = 0;  ///< 0: not run yet
    std::string fault;
  };
  void pilot();
  bool round(RandomStream& random);
  [[nodiscard]] double block_seconds(std::size_t arm) const;
  [[nodiscard]] bool narrow_enough() const;

  BlockRunner* runner_;
  const Plan* plan_;
  double alpha_;
  std::vector<Candidate> candidates_;
  std::vector<std::size_t> running_;  ///< candidates in the table, after live
  std::vector<double> step_seconds_;  ///< by arm of the table
  std::optional<ArmTable> table_;
  std::string fault_;  ///< what ended the rounds early, if not the budget
};

}  // namespace cachebisect
