// What follows a certified verdict, within what is left of the budget: the rounds that explain it
// and the check of the caches. Never changes the verdict.
#pragma once

#include <functional>
#include <optional>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/explain/cache_check.hpp"
#include "cachebisect/bisect/explain/explain.hpp"

namespace cachebisect {

/// Not thread safe.
class CACHEBISECT_API ExplainPhase {
 public:
  struct Verdict {
    const Decision& decision;
    const Findings& findings;
    const CacheFacts& facts;
    int rounds = 0;  ///< done so far; the phase's own count on from there
  };

  /// Keeps references to all.
  ExplainPhase(Replayer& replayer, BlockRunner& runner, const Plan& plan,
               const ChainDescription& chain, const BisectOptions& options);

  /// Runs the phase; `after_round` is called after each complete round. An error of the replayer
  /// ends the phase and is kept for the report; Error(interrupted) is thrown, with what is known
  /// kept.
  void run(const Verdict& verdict, RandomStream& random, const std::function<void()>& after_round);
  /// What is known so far.
  [[nodiscard]] Explanation explanation(const Findings& findings) const;

 private:
  void explain(const Verdict& verdict, RandomStream& random,
               const std::function<void()>& after_round);
  void check_cache(const Verdict& verdict, RandomStream& random,
                   const std::function<void()>& after_round);

  Replayer* replayer_;
  BlockRunner* runner_;
  const Plan* plan_;
  const ChainDescription* chain_;
  const BisectOptions* options_;
  std::optional<Explainer> explainer_;
  std::optional<CacheCheck> cache_check_;
  std::optional<Warning> fault_;
};

}  // namespace cachebisect
