// The rounds that lead to a verdict: pilot, complete rounds of all arms of the plan, a look at the
// evidence after each, until a verdict is certified or the budget ends.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/machine_watch.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/bisect/evidence/ledger.hpp"
#include "cachebisect/bisect/evidence/serving_cost.hpp"
#include "cachebisect/bisect/record/block_runner.hpp"
#include "cachebisect/bisect/search/pilot.hpp"
#include "cachebisect/bisect/search/plan.hpp"
#include "cachebisect/bisect/search/round_arms.hpp"
#include "cachebisect/bisect/search/verdict.hpp"

namespace cachebisect {

/// Not thread safe.
class CACHEBISECT_API Measurement {
 public:
  /// Keeps references to all.
  Measurement(Replayer& replayer, BlockRunner& runner, Plan& plan, const ChainDescription& chain,
              const BisectOptions& options);

  /// Call when the caches are filled, before run().
  void set_caches(const CacheFacts& facts);
  /// Measures; `after_look` is called after each look at the evidence that did not end it. Throws
  /// as BlockRunner::run does; conclude() then keeps what the complete rounds say.
  void run(RandomStream& random, const std::function<void()>& after_look);
  /// Throws a partial round away and looks at the complete ones for the last time.
  void conclude();
  /// Takes a reading of the machine now; run() takes more between the rounds.
  void read_machine();

  [[nodiscard]] std::size_t rounds() const noexcept { return rounds_.rounds(); }
  /// Empty before the first look.
  [[nodiscard]] const Findings& findings() const noexcept { return findings_; }
  [[nodiscard]] const Decision& decision() const noexcept { return decision_; }
  [[nodiscard]] bool certified() const noexcept {
    return decision_.kind != VerdictKind::inconclusive;
  }
  /// Measured seconds at the look that certified the verdict; none while there is none.
  [[nodiscard]] std::optional<double> certified_after() const noexcept { return certified_after_; }
  /// Brought up to date by asking it.
  [[nodiscard]] Ledger& ledger() noexcept { return ledger_; }
  /// Of null blocks against the same boundary's own.
  [[nodiscard]] const Evidence& null_evidence() const noexcept { return null_evidence_; }
  [[nodiscard]] const MachineWatch& machine() const noexcept { return machine_; }
  /// rho_k, seconds a sample by boundary; empty where it is not known.
  [[nodiscard]] const std::vector<double>& serve_seconds() const noexcept {
    return serving_.seconds_per_sample();
  }
  /// Spent on filling the caches anew, not counted as measuring.
  [[nodiscard]] double refill_seconds() const noexcept { return refill_seconds_; }

 private:
  void look_around(Pilot& pilot);
  bool round(RandomStream& random);
  bool run_arms(const std::vector<Arm>& arms, RandomStream& random);
  void refill_if_due();
  void look_at_evidence();
  [[nodiscard]] bool finished() const;

  Replayer* replayer_;
  BlockRunner* runner_;
  Plan* plan_;
  const ChainDescription* chain_;
  const BisectOptions* options_;
  RoundTable rounds_;
  Ledger ledger_;
  RoundArms arms_;
  ServingCost serving_;
  Evidence null_evidence_;
  MachineWatch machine_;
  Findings findings_;
  Decision decision_;
  std::optional<double> certified_after_;
  std::optional<double> machine_read_at_;
  double refill_seconds_ = 0;
  bool sizes_vary_ = false;
  bool suspects_named_ = false;
};

}  // namespace cachebisect
