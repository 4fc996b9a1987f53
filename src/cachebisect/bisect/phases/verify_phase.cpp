#include "cachebisect/bisect/phases/verify_phase.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/bisect/evidence/arm_ratio.hpp"
#include "cachebisect/bisect/phases/explain_columns.hpp"
#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

const char* const kNoTime = "the budget ended before it could be run";

/// A change that the chain cannot run is an answer; a stop and our own faults are not.
void rethrow_unless_the_chain_failed(const Error& error) {
  if (error.kind() == ErrorKind::interrupted || error.kind() == ErrorKind::internal) throw;
}

int next_round(const std::vector<BlockRecord>& records) {
  int last = -1;
  for (const BlockRecord& record : records) last = std::max(last, record.round);
  return last + 1;
}

class SpeedupsRule final : public StoppingRule {
 public:
  explicit SpeedupsRule(double alpha) : alpha_(alpha) {}
  [[nodiscard]] bool enough(const RoundTable& rounds) const override {
    for (int arm = kLive + 1; arm <= rounds.last(); ++arm) {
      if (!is_narrow(log_ratio(rounds, kLive, arm, alpha_), kFine)) return false;
    }
    return true;
  }

 private:
  double alpha_;
};

}  // namespace

VerifyPhase::VerifyPhase(const Replayer& replayer, RoundRunner& runner, const RoundPlan& plan,
                         Measurements& measured)
    : replayer_(&replayer), runner_(&runner), plan_(&plan), measured_(&measured) {}

std::string VerifyPhase::why_not(const Arm& arm) const {
  if (replayer_->supports(arm)) return {};
  const std::string why = replayer_->why_unsupported(arm);
  return why.empty() ? "this chain cannot run it" : why;
}

void VerifyPhase::run(const std::vector<Arm>& arms, const std::function<void()>& after_round) {
  VerifyRounds& verify = measured_->verify;
  BlockRunner& blocks = runner_->blocks();
  std::vector<TimedArm> running{{Arm{}, plan_->step_seconds(0)}};
  for (const Arm& arm : arms) verify.arms.push_back({arm, why_not(arm)});
  blocks.begin_round(-1);
  for (VerifiedArm& arm : verify.arms) pilot(arm, running);
  if (running.size() < 2) return;
  verify.table = RoundTable(columns_of(running));
  try {
    runner_->repeat(
        repeated_rounds(plan_->lengths(), running, next_round(blocks.records()), blocks.budget()),
        SpeedupsRule(1 - measured_->settings.confidence), verify.table, after_round);
  } catch (const Error& error) {
    rethrow_unless_the_chain_failed(error);
    if (verify.table.rounds() > 0) return;
    for (VerifiedArm& arm : verify.arms) {
      if (arm.fault.empty()) arm.fault = std::string("it failed: ") + error.what();
    }
  }
}

void VerifyPhase::pilot(VerifiedArm& arm, std::vector<TimedArm>& running) {
  if (!arm.fault.empty()) return;
  if (runner_->blocks().left() <= plan_->block_seconds(0)) {
    arm.fault = kNoTime;
    return;
  }
  try {
    const double live = plan_->step_seconds(0);
    running.push_back(
        {arm.arm, pilot_step_seconds(runner_->blocks(), plan_->lengths(), arm.arm, live)});
  } catch (const Error& error) {
    rethrow_unless_the_chain_failed(error);
    arm.fault = std::string("it failed: ") + error.what();
  }
}

std::optional<Verification> verification_of(const Measurements& measured, const Arm& arm) {
  const VerifyRounds& verify = measured.verify;
  const auto found = std::find_if(verify.arms.begin(), verify.arms.end(),
                                  [&](const VerifiedArm& v) { return v.arm == arm; });
  if (found == verify.arms.end()) return std::nullopt;
  Verification result{{}, found->fault};
  const auto column = verify.table.find(arm);
  if (column && verify.table.rounds() > 0) {
    const double alpha = 1 - measured.settings.confidence;
    result.speedup = ratio_of(log_ratio(verify.table, kLive, *column, alpha));
  } else if (result.fault.empty()) {
    result.fault = kNoTime;
  }
  return result;
}

}  // namespace cachebisect
