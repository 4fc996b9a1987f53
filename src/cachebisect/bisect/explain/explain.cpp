#include "cachebisect/bisect/explain/explain.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "cachebisect/base/shuffle.hpp"
#include "cachebisect/bisect/explain/limit.hpp"

namespace cachebisect {
namespace {

constexpr std::size_t kMostRounds = 16;
/// Half width, in log throughput, that an interval need not be narrower than: this, or this share
/// of the gain or loss that it is about.
constexpr double kNarrow = 0.01;
constexpr double kNarrowShare = 0.1;
constexpr std::size_t kLive = 0;
constexpr std::size_t kCeiling = 1;

const Arm kShadow{.kind = ArmKind::shadow};
const Arm kUnobserved{.observed = false};

/// `about`: the log ratio that the answer is judged by.
bool narrow(const LogRatio& ratio, double about) {
  const double enough = std::max(kNarrow, kNarrowShare * std::abs(about));
  return ratio.interval && ratio.interval->high - ratio.interval->low <= 2 * enough;
}

/// The part behind the host's stages that costs most.
void fill_device_side(LimitQuestion& question, const ChainDescription& chain,
                      const Findings& findings) {
  for (const Finding& finding : findings.parts) {
    const StageDescription& stage = chain.stages[static_cast<std::size_t>(finding.part.to) - 1];
    const bool behind = !runs_on_host(stage.category);
    if (!behind || !finding.part.single() || finding.drop <= question.device_side_drop) continue;
    question.device_side_drop = finding.drop;
    question.device_side_stage = stage.name;
  }
}

Estimate as_drop(const LogRatio& ratio) {
  Estimate out{theta_to_drop(ratio.value), std::nullopt};
  if (ratio.interval) {
    out.interval =
        Interval{theta_to_drop(ratio.interval->low), theta_to_drop(ratio.interval->high)};
  }
  return out;
}

}  // namespace

Explainer::Explainer(BlockRunner& runner, const Plan& plan, const ChainDescription& chain,
                     std::vector<Arm> arms, const ExplainOptions& options)
    : runner_(&runner),
      plan_(&plan),
      chain_(&chain),
      options_(options),
      table_(std::move(arms)),
      step_seconds_(table_.arms().size(), plan.step_seconds(0)),
      started_(runner.elapsed()),
      alpha_(1 - options.confidence) {
  for (std::size_t i = 0; i < step_seconds_.size(); ++i) {
    const Arm& arm = table_.arms()[i];
    const bool known = arm.kind == ArmKind::replay && plan.piloted(arm.boundary);
    if (known) step_seconds_[i] = plan.step_seconds(arm.boundary);
    if (!known) unknown_.push_back(i);
  }
}

double Explainer::left() const {
  return std::min(runner_->left(), options_.most_seconds - (runner_->elapsed() - started_));
}

int Explainer::steps(std::size_t arm) const { return plan_->steps_for(step_seconds_.at(arm)); }

double Explainer::round_seconds() const {
  double seconds = 0;
  for (std::size_t arm = 0; arm < step_seconds_.size(); ++arm) {
    seconds += (plan_->warmup(table_.arms()[arm].boundary) + steps(arm)) * step_seconds_[arm];
  }
  return seconds;
}

void Explainer::pilot() {
  if (unknown_.empty()) return;
  runner_->begin_round(-1);
  for (const std::size_t arm : unknown_) {
    const BlockResult block =
        runner_->run(table_.arms()[arm], plan_->warmup(table_.arms()[arm].boundary), steps(arm));
    step_seconds_[arm] = block.seconds / std::max(1, block.steps);
  }
  unknown_.clear();
}

std::vector<std::size_t> Explainer::shuffled(RandomStream& random) const {
  std::vector<std::size_t> order(table_.arms().size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(order, random);
  return order;
}

bool Explainer::round(RandomStream& random) {
  table_.discard();
  if (table_.arms().size() < 2 || table_.rounds() >= kMostRounds) return false;
  if (table_.rounds() == 0) {
    if (options_.least_rounds * round_seconds() > left()) return false;
    pilot();
  }
  if (round_seconds() > left() || narrow_enough()) return false;
  runner_->begin_round(options_.first_round + static_cast<int>(table_.rounds()));
  for (const std::size_t arm : shuffled(random)) {
    if (left() <= 0) return false;
    table_.add(arm,
               runner_->run(table_.arms()[arm],
                            plan_->draw_warmup(table_.arms()[arm].boundary, random), steps(arm)));
  }
  table_.commit();
  return true;
}

bool Explainer::known(std::size_t arm, double loss) const {
  const double alpha = alpha_ / 2;
  if (table_.arms()[arm] == kUnobserved) {
    return table_.log_ratio(kLive, arm, alpha_).interval.has_value();
  }
  switch (table_.arms()[arm].kind) {
    case ArmKind::bypass: {
      const LogRatio gain = table_.log_ratio(kLive, arm, alpha);
      return narrow(gain, gain.value) || narrow(table_.log_ratio(kCeiling, arm, alpha), gain.value);
    }
    case ArmKind::shadow:
      return narrow(table_.log_ratio(arm, kCeiling, alpha), loss) &&
             table_.log_ratio(kLive, arm, alpha).interval.has_value();
    default:
      return true;
  }
}

bool Explainer::narrow_enough() const {
  if (table_.rounds() == 0) return false;
  const double loss = std::log(table_.tau(kLive) / table_.tau(kCeiling));
  for (std::size_t arm = 0; arm < table_.arms().size(); ++arm) {
    if (!known(arm, loss)) return false;
  }
  return true;
}

std::vector<Payoff> Explainer::payoffs(const Findings& findings) const {
  std::vector<Payoff> all;
  for (std::size_t arm = 0; arm < table_.arms().size(); ++arm) {
    if (table_.arms()[arm].kind != ArmKind::bypass) continue;
    LimitQuestion question{.totals = table_.totals(arm),
                           .ceiling_seconds = table_.tau(kCeiling),
                           .free_stage = table_.arms()[arm].stage};
    fill_device_side(question, *chain_, findings);
    all.push_back({.stage = table_.arms()[arm].stage,
                   .of_live = ratio_of(table_.log_ratio(kLive, arm, alpha_ / 2)),
                   .of_ceiling = ratio_of(table_.log_ratio(kCeiling, arm, alpha_ / 2)),
                   .limits = find_limit(*chain_, question)});
  }
  return all;
}

int Explainer::pays_most(const std::vector<Payoff>& payoffs) const {
  const auto arm_of = [&](int stage) {
    return table_.find({.kind = ArmKind::bypass, .stage = stage});
  };
  const auto best = std::max_element(
      payoffs.begin(), payoffs.end(),
      [](const Payoff& a, const Payoff& b) { return *a.of_live.value < *b.of_live.value; });
  if (best == payoffs.end()) return 0;
  const int stage = options_.verdict_stage;
  if (stage == 0 || best->stage == stage) return best->stage;
  const auto named = arm_of(stage);
  if (!named) return 0;  // nothing is known against it
  // Against the stage with the largest drop only what is certain counts.
  const LogRatio lead = table_.log_ratio(*named, *arm_of(best->stage), alpha_);
  return lead.interval && lead.interval->low > 0 ? best->stage : stage;
}

void Explainer::split_loss(Explanation& out) const {
  const auto shadow = table_.find(kShadow);
  if (!shadow) return;
  out.contention = as_drop(table_.log_ratio(*shadow, kCeiling, alpha_));
  // T(shadow) / T(n) times what live loses against shadow: two intervals share the error.
  const LogRatio slowed = table_.log_ratio(*shadow, kCeiling, alpha_ / 2);
  const LogRatio starved = table_.log_ratio(kLive, *shadow, alpha_ / 2);
  out.starvation.value = std::exp(-slowed.value) * theta_to_drop(starved.value);
  if (!slowed.interval || !starved.interval) return;
  std::vector<double> corners;
  for (const double c : {slowed.interval->low, slowed.interval->high}) {
    for (const double s : {starved.interval->low, starved.interval->high}) {
      corners.push_back(std::exp(-c) * theta_to_drop(s));
    }
  }
  const auto [low, high] = std::minmax_element(corners.begin(), corners.end());
  out.starvation.interval = Interval{*low, *high};
}

Explanation Explainer::explanation(const Findings& findings) const {
  Explanation out;
  out.rounds = static_cast<int>(table_.rounds());
  if (table_.rounds() == 0) return out;
  out.payoffs = payoffs(findings);
  out.pays_most = pays_most(out.payoffs);
  split_loss(out);
  if (const auto bare = table_.find(kUnobserved)) {
    out.overhead = as_drop(table_.log_ratio(kLive, *bare, alpha_));
  }
  return out;
}

}  // namespace cachebisect
