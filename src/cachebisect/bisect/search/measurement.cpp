#include "cachebisect/bisect/search/measurement.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cachebisect/bisect/report/sentence.hpp"

namespace cachebisect {
namespace {

constexpr double kMachineSeconds = 0.5;  ///< between two readings of the machine
constexpr std::size_t kRoundsPerFill = 8;
constexpr double kRoundsToCertify = 12;

/// A tie is given so long after the first certificate to resolve. Seconds.
double tie_deadline(double certified_after) { return 3 * certified_after + 2; }

/// Looks grow rarer as rounds add up, so that their cost stays in proportion.
bool time_to_look(std::size_t rounds) {
  const std::size_t every = std::max<std::size_t>(1, rounds / 25);
  return rounds % every == 0;
}

}  // namespace

Measurement::Measurement(Replayer& replayer, BlockRunner& runner, Plan& plan,
                         const ChainDescription& chain, const BisectOptions& options)
    : replayer_(&replayer),
      runner_(&runner),
      plan_(&plan),
      chain_(&chain),
      options_(&options),
      rounds_(static_cast<int>(chain.stages.size())),
      ledger_(rounds_, options.confidence),
      arms_(replayer),
      serving_(chain),
      null_evidence_(2 / (1 - options.confidence)) {}

void Measurement::set_caches(const CacheFacts& facts) {
  sizes_vary_ = facts.sizes_vary;
  serving_.set_lookup(facts.serve_seconds_per_sample);
}

void Measurement::run(RandomStream& random, const std::function<void()>& after_look) {
  runner_->set_phase("pilot");
  Pilot pilot(*runner_, *plan_, *chain_);
  pilot.ends();
  look_around(pilot);
  runner_->set_expected(runner_->elapsed() + kRoundsToCertify * plan_->round_seconds());
  runner_->set_phase("measure");
  while (round(random)) {
    if (!time_to_look(rounds_.rounds())) continue;
    look_at_evidence();
    if (finished()) return;
    after_look();
    plan_->update(findings_, rounds_);
    look_around(pilot);
  }
}

void Measurement::conclude() {
  rounds_.discard();
  if (rounds_.rounds() > 0) look_at_evidence();
}

void Measurement::read_machine() { machine_.add(replayer_->read_machine()); }

/// Pilots what the plan asks for; the pilot's suspects are named before they have evidence.
void Measurement::look_around(Pilot& pilot) {
  pilot.explore();
  plan_->choose();
  if (suspects_named_) return;
  const std::vector<int> suspects = plan_->suspects();
  suspects_named_ = !suspects.empty();
  if (suspects_named_) ledger_.name_suspects(suspects);
}

/// Items that differ in size differ in cost: no few of them stand for all.
void Measurement::refill_if_due() {
  const std::size_t done = rounds_.rounds();
  if (!sizes_vary_ || done == 0 || done % kRoundsPerFill != 0) return;
  const double before = replayer_->clock();
  // Where it cannot be done now, it cannot be done later.
  sizes_vary_ = replayer_->refill(0, options_->stop).has_value();
  refill_seconds_ += runner_->leave_out_since(before);
}

/// False, with no round or a partial one thrown away, when the budget has ended.
bool Measurement::round(RandomStream& random) {
  const std::size_t done = rounds_.rounds();
  if (runner_->left() <= 0) return false;
  if (done > 0 && plan_->round_seconds() > runner_->left()) return false;
  refill_if_due();
  runner_->begin_round(static_cast<int>(done));
  if (!run_arms(arms_.draw(plan_->boundaries(), plan_->live_twice(), random), random)) {
    rounds_.discard();
    return false;
  }
  const double now = replayer_->clock();
  // Between blocks, and rarely enough to cost nothing.
  if (!machine_read_at_ || now - *machine_read_at_ >= kMachineSeconds) {
    machine_read_at_ = now;
    read_machine();
  }
  return true;
}

/// One block an arm; the round is complete only when this returns true.
bool Measurement::run_arms(const std::vector<Arm>& arms, RandomStream& random) {
  std::optional<std::pair<int, double>> null;
  for (const Arm& arm : arms) {
    if (runner_->left() <= 0) return false;
    const BlockResult block =
        runner_->run(arm, plan_->draw_warmup(arm.boundary, random), plan_->steps(arm.boundary));
    if (arm.kind == ArmKind::null) {
      null = {arm.boundary, std::log(block.seconds / static_cast<double>(block.samples))};
      if (plan_->live_twice()) rounds_.add_again(arm.boundary, block.seconds, block.samples);
    } else {
      rounds_.add(arm.boundary, block.seconds, block.samples);
      serving_.add(arm, block);
    }
  }
  rounds_.commit();
  if (null) {
    const std::size_t last = rounds_.rounds() - 1;
    null_evidence_.add(*rounds_.log_tau(last, null->first) - null->second);
  }
  return true;
}

void Measurement::look_at_evidence() {
  findings_ = look(ledger_, {options_->min_drop, chain_->workers, serving_.seconds_per_sample()});
  decision_ = decide(findings_, *plan_, options_->min_drop);
  if (!certified()) certified_after_.reset();
  if (certified() && !certified_after_) certified_after_ = runner_->elapsed();
  runner_->set_best(best_estimate(*chain_, findings_));
}

bool Measurement::finished() const {
  if (!certified()) return false;
  return decision_.settled || runner_->elapsed() >= tie_deadline(*certified_after_);
}

}  // namespace cachebisect
