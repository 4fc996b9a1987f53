#include "cachebisect/bisect/explain/verify.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/shuffle.hpp"
#include "cachebisect/bisect/costs/what_if.hpp"

namespace cachebisect {
namespace {

constexpr std::size_t kMostRounds = 16;
/// Half width, in log throughput, that an interval need not be narrower than.
constexpr double kNarrow = 0.005;
constexpr std::size_t kLive = 0;
const char* const kNoTime = "the budget ended before it could be run";

/// Beside the live figure of the report.
Estimate as_rate(const Estimate& speedup, double live) {
  Estimate out;
  if (speedup.value) out.value = live * *speedup.value;
  if (speedup.interval) {
    out.interval = Interval{live * speedup.interval->low, live * speedup.interval->high};
  }
  return out;
}

const VerifiedArm* find(const std::vector<VerifiedArm>& verified, const std::optional<Arm>& arm) {
  const auto found = std::find_if(verified.begin(), verified.end(),
                                  [&](const VerifiedArm& v) { return v.arm == arm; });
  return found == verified.end() ? nullptr : &*found;
}

/// A change that the chain cannot bear is an answer; a stop and our own faults are not.
void rethrow_unless_the_chain_failed(const Error& error) {
  if (error.kind() == ErrorKind::interrupted || error.kind() == ErrorKind::internal) throw;
}

int next_round(const BlockRunner& runner) {
  int last = -1;
  for (const BlockRecord& record : runner.records()) last = std::max(last, record.round);
  return last + 1;
}

}  // namespace

std::optional<Arm> arm_of(const Remedy& remedy) {
  if (remedy.edits.empty()) return std::nullopt;
  Arm arm{.kind = ArmKind::live};
  for (const Edit& edit : remedy.edits) {
    const bool structural = edit.value == "null" || edit.path.ends_with("/-");
    if (structural || edit.path.size() < 2) return std::nullopt;
    std::string path = edit.path.substr(1);
    std::replace(path.begin(), path.end(), '/', '.');
    arm.overrides[path] = edit.value;
  }
  return arm;
}

void fill_verification(Report& report, const std::vector<VerifiedArm>& verified) {
  if (!report.live.value) return;
  for (WhatIfReport& what_if : report.what_ifs) {
    const WhatIfArm wanted = arm_of(parse_what_if(what_if.change, report.chain), report.chain);
    const VerifiedArm* const found = find(verified, wanted.arm);
    if (found != nullptr) what_if.measured = as_rate(found->speedup, *report.live.value);
    const std::string fault = wanted.arm ? (found != nullptr ? found->fault : "") : wanted.why;
    // What asks for the measurement is answered by it.
    if (what_if.measured.value && !what_if.predicted.value) what_if.note.clear();
    if (!fault.empty()) what_if.note += (what_if.note.empty() ? "" : "; ") + fault;
  }
  for (Remedy& remedy : report.remedies) {
    const VerifiedArm* const found = find(verified, arm_of(remedy));
    if (found == nullptr || !found->speedup.value) continue;
    remedy.measured = *report.live.value * (*found->speedup.value - 1);
  }
}

Verifier::Verifier(const Replayer& replayer, BlockRunner& runner, const Plan& plan,
                   const Report& report)
    : runner_(&runner), plan_(&plan), alpha_(1 - report.settings.confidence) {
  const auto add = [&](const std::optional<Arm>& arm) {
    const bool known = std::any_of(candidates_.begin(), candidates_.end(),
                                   [&](const Candidate& c) { return c.arm == arm; });
    if (!arm || known) return;
    candidates_.push_back({*arm, 0, replayer.supports(*arm) ? "" : "this chain cannot run it"});
  };
  for (const WhatIfReport& what_if : report.what_ifs) {
    add(arm_of(parse_what_if(what_if.change, report.chain), report.chain).arm);
  }
  for (const Remedy& remedy : report.remedies) add(arm_of(remedy));
}

void Verifier::run(RandomStream& random, const std::function<void()>& after_round) {
  pilot();
  if (running_.empty()) return;
  std::vector<Arm> arms{Arm{}};
  step_seconds_ = {plan_->step_seconds(0)};
  for (const std::size_t candidate : running_) {
    arms.push_back(candidates_[candidate].arm);
    step_seconds_.push_back(candidates_[candidate].step_seconds);
  }
  table_.emplace(std::move(arms));
  try {
    while (round(random)) after_round();
  } catch (const Error& error) {
    rethrow_unless_the_chain_failed(error);
    fault_ = std::string("it failed: ") + error.what();
  }
}

void Verifier::pilot() {
  runner_->begin_round(-1);
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    Candidate& candidate = candidates_[i];
    if (!candidate.fault.empty()) continue;
    if (runner_->left() <= plan_->block_seconds(0)) {
      candidate.fault = kNoTime;
      continue;
    }
    try {
      const BlockResult block = runner_->run(candidate.arm, plan_->warmup(0), plan_->steps(0));
      candidate.step_seconds = block.seconds / std::max(1, block.steps);
      running_.push_back(i);
    } catch (const Error& error) {
      rethrow_unless_the_chain_failed(error);
      candidate.fault = std::string("it failed: ") + error.what();
    }
  }
}

double Verifier::block_seconds(std::size_t arm) const {
  const double step = step_seconds_[arm];
  return (plan_->warmup(0) + plan_->steps_for(step)) * step;
}

bool Verifier::round(RandomStream& random) {
  ArmTable& table = *table_;
  table.discard();
  std::vector<std::size_t> order(table.arms().size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const double seconds =
      std::accumulate(order.begin(), order.end(), 0.0,
                      [this](double sum, std::size_t arm) { return sum + block_seconds(arm); });
  if (seconds > runner_->left() || table.rounds() >= kMostRounds || narrow_enough()) return false;
  shuffle(order, random);
  runner_->begin_round(next_round(*runner_));
  for (const std::size_t arm : order) {
    table.add(arm, runner_->run(table.arms()[arm], plan_->draw_warmup(0, random),
                                plan_->steps_for(step_seconds_[arm])));
  }
  table.commit();
  return true;
}

bool Verifier::narrow_enough() const {
  if (table_->rounds() == 0) return false;
  for (std::size_t arm = 1; arm < table_->arms().size(); ++arm) {
    const LogRatio ratio = table_->log_ratio(kLive, arm, alpha_);
    if (!ratio.interval || ratio.interval->high - ratio.interval->low > 2 * kNarrow) return false;
  }
  return true;
}

std::vector<VerifiedArm> Verifier::verified() const {
  std::vector<VerifiedArm> all;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    VerifiedArm& verified = all.emplace_back();
    verified.arm = candidates_[i].arm;
    verified.fault = candidates_[i].fault;
    const auto place = std::find(running_.begin(), running_.end(), i);
    if (place == running_.end()) continue;
    if (!table_ || table_->rounds() == 0) {
      verified.fault = fault_.empty() ? kNoTime : fault_;
      continue;
    }
    const auto arm = static_cast<std::size_t>(place - running_.begin()) + 1;
    verified.speedup = ratio_of(table_->log_ratio(kLive, arm, alpha_));
  }
  return all;
}

}  // namespace cachebisect
