#include "cachebisect/bisect/analysis/explanation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "cachebisect/bisect/analysis/limit.hpp"
#include "cachebisect/bisect/costs/predicted_fix_first.hpp"
#include "cachebisect/bisect/evidence/arm_ratio.hpp"
#include "cachebisect/bisect/evidence/confidence_sequence.hpp"
#include "cachebisect/bisect/evidence/stall_evidence.hpp"
#include "cachebisect/bisect/evidence/throughput.hpp"
#include "cachebisect/bisect/phases/cache_check.hpp"
#include "cachebisect/bisect/phases/explain_arms.hpp"
#include "cachebisect/bisect/phases/explain_columns.hpp"

namespace cachebisect {
namespace {

class Explainer {
 public:
  Explainer(const Measurements& measured, const VerdictState& state, const RoundTable& rounds)
      : measured_(measured),
        state_(state),
        rounds_(rounds),
        confidence_(measured.settings.confidence),
        alpha_(1 - confidence_),
        stalls_(state.findings.lose_in_stalls()) {}

  [[nodiscard]] Explanation explain(const std::optional<Forecast>& forecast) const {
    Explanation out;
    find_payoffs(out);
    find_pays_most(out, forecast);
    for (const Payoff& payoff : out.payoffs) {
      if (payoff.stage == out.pays_most) out.limits_next = limit_after(payoff, forecast);
    }
    split_loss(out);
    find_rank_payoffs(out);
    if (const auto bare = rounds_.find({.observed = false})) {
      out.overhead = drop_of(log_ratio(rounds_, kLive, *bare, alpha_));
    }
    return out;
  }

 private:
  [[nodiscard]] std::optional<int> bypass_of(int stage) const {
    return rounds_.find({.kind = ArmKind::bypass, .stage = stage});
  }

  /// Ratios to live and to the ceiling, applied to the figures of the verdict's rounds: the
  /// steadier of the two tells more. They share the error.
  [[nodiscard]] Estimate freed_throughput(int arm) const {
    const RoundTable& table = measured_.verdict.table;
    if (table.rounds() == 0) return {};
    const auto by = [&](int explained, int anchor, double share) {
      return anchored_throughput(log_ratio(rounds_, explained, arm, share * alpha_), table, anchor,
                                 confidence_);
    };
    return narrower(by(kLive, 0, kMainShare), by(kCeiling, table.last(), 1 - kMainShare));
  }

  void find_payoffs(Explanation& out) const {
    for (int arm = 0; arm <= rounds_.last(); ++arm) {
      const Arm& asked = rounds_.arms()[static_cast<std::size_t>(arm)];
      if (asked.kind != ArmKind::bypass) continue;
      out.payoffs.push_back({asked.stage, freed_throughput(arm)});
      if (stalls_) hold_live(out.payoffs.back().samples_per_second);
    }
  }

  /// The blocks of an arm may have missed its stalls; it is as fast as live at least.
  void hold_live(Estimate& payoff) const {
    if (!payoff.interval) return;
    payoff.interval->low = std::min(payoff.interval->low, 1 / measured_.verdict.table.tau(0));
  }

  void find_rank_payoffs(Explanation& out) const {
    for (int arm = 0; arm <= rounds_.last(); ++arm) {
      const RankRange& ranks = rounds_.arms()[static_cast<std::size_t>(arm)].ranks;
      if (!ranks.is_all()) out.ranks.push_back({ranks, freed_throughput(arm)});
    }
    out.slow_ranks = slow_ranks(rounds_, alpha_);
  }

  /// The stage with the largest payoff that is reported; 0: none.
  [[nodiscard]] static int largest(const std::vector<Payoff>& payoffs) {
    const Payoff* best = nullptr;
    for (const Payoff& payoff : payoffs) {
      const auto& value = payoff.samples_per_second.value;
      if (value && (best == nullptr || *value > *best->samples_per_second.value)) best = &payoff;
    }
    return best == nullptr ? 0 : best->stage;
  }

  /// True if `best` gains more than `named` according to the cost model.
  [[nodiscard]] bool is_predicted(const std::optional<Forecast>& forecast, int best,
                                  int named) const {
    const auto& stages = measured_.chain.stages;
    const auto name = [&](int stage) {
      return stages.at(static_cast<std::size_t>(stage) - 1).name;
    };
    return predicted_fix_first(measured_.chain, forecast, name(named), 1) == name(best);
  }

  void find_pays_most(Explanation& out, const std::optional<Forecast>& forecast) const {
    const int best = largest(out.payoffs);
    const int named = named_stage(state_);
    out.pays_most = best;
    if (best == 0 || named == 0 || best == named) return;
    const auto named_arm = bypass_of(named);
    if (!named_arm) {
      out.pays_most = 0;  // the named stage was not measured
      return;
    }
    const LogRatio lead = log_ratio(rounds_, *named_arm, *bypass_of(best), alpha_);
    out.pays_most_certainly =
        stalls_ ? log_stall_evidence(rounds_, *named_arm, *bypass_of(best), 0) > -std::log(alpha_)
                : lead.interval && lead.interval->low > 0;
    if (out.pays_most_certainly) return;
    const bool leads = !stalls_ && lead.value > std::log(kReportLeadAboveRatio);
    if (leads && is_predicted(forecast, best, named)) return;
    out.pays_most = named;
    out.pays_most_certainly = true;
  }

  [[nodiscard]] std::string limit_after(const Payoff& payoff,
                                        const std::optional<Forecast>& forecast) const {
    const int arm = bypass_of(payoff.stage).value();
    FreedStage freed{.stage = payoff.stage,
                     .samples_per_second = payoff.samples_per_second.value.value_or(0),
                     .totals = rounds_.totals(arm),
                     .ceiling_seconds = rounds_.tau(kCeiling),
                     .device_side_stage = {},
                     .device_side_drop = 0};
    for (const Finding& finding : state_.findings.parts) {
      const StageDescription& stage =
          measured_.chain.stages[static_cast<std::size_t>(finding.part.to) - 1];
      const bool device_side = !runs_on_host(stage.category) && finding.part.single();
      if (!device_side || finding.drop <= freed.device_side_drop) continue;
      freed.device_side_drop = finding.drop;
      freed.device_side_stage = stage.name;
    }
    return find_limit(measured_.chain, freed, forecast);
  }

  void split_loss(Explanation& out) const {
    const auto shadow = rounds_.find({.kind = ArmKind::shadow});
    if (!shadow) return;
    out.contention = drop_of(log_ratio(rounds_, *shadow, kCeiling, alpha_));
    // T(shadow) / T(n) times what live loses against shadow: the two intervals share the error.
    const LogRatio slowed = log_ratio(rounds_, *shadow, kCeiling, alpha_ / 2);
    const LogRatio starved = log_ratio(rounds_, kLive, *shadow, alpha_ / 2);
    const auto starvation = [](double slow, double starve) {
      return std::exp(-slow) * theta_to_drop(starve);
    };
    out.starvation.value = starvation(slowed.value, starved.value);
    if (!slowed.interval || !starved.interval) return;
    const std::array corners{starvation(slowed.interval->low, starved.interval->low),
                             starvation(slowed.interval->low, starved.interval->high),
                             starvation(slowed.interval->high, starved.interval->low),
                             starvation(slowed.interval->high, starved.interval->high)};
    const auto [low, high] = std::minmax_element(corners.begin(), corners.end());
    out.starvation.interval = Interval{*low, *high};
  }

  const Measurements& measured_;
  const VerdictState& state_;
  const RoundTable& rounds_;
  double confidence_;
  double alpha_;
  bool stalls_;  ///< centres of blocks do not show what is lost
};

/// Without the arms that were planned but did not run.
RoundTable only_run(const RoundTable& rounds) {
  std::vector<Arm> run;
  for (int arm = 0; arm <= rounds.last(); ++arm) {
    if (rounds.visited(arm)) run.push_back(rounds.arms()[static_cast<std::size_t>(arm)]);
  }
  return rounds.with_arms(std::move(run));
}

}  // namespace

Explanation explain(const Measurements& measured, const VerdictState& state,
                    const std::optional<Forecast>& forecast) {
  const ExplainRounds& rounds = measured.explain;
  Explanation out;
  if (rounds.arms && rounds.arms->rounds() > 0) {
    out = Explainer(measured, state, only_run(*rounds.arms)).explain(forecast);
  }
  if (rounds.caches) {
    out.larger_cache = cache_change(rounds.caches->table, 1 - measured.settings.confidence);
  }
  return out;
}

}  // namespace cachebisect
