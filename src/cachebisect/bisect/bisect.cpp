#include "cachebisect/bisect/bisect.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/machine_watch.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/bisect/block_runner.hpp"
#include "cachebisect/bisect/evidence/serving_cost.hpp"
#include "cachebisect/bisect/explain/explain_phase.hpp"
#include "cachebisect/bisect/explain/verify.hpp"
#include "cachebisect/bisect/law/what_if.hpp"
#include "cachebisect/bisect/pilot.hpp"
#include "cachebisect/bisect/plan.hpp"
#include "cachebisect/bisect/report_builder.hpp"
#include "cachebisect/bisect/sentence.hpp"
#include "cachebisect/bisect/verdict.hpp"

namespace cachebisect {
namespace {

void check(const BisectOptions& options) {
  const auto refuse = [](const std::string& what) { throw Error(ErrorKind::usage, what); };
  if (!(options.budget_seconds > 0) || options.budget_seconds > 1e7) {
    refuse("the budget must be above 0 s and at most 1e7 s");
  }
  if (!(options.confidence >= 0.5) || options.confidence > 0.999999) {
    refuse("the confidence must lie in [0.5, 0.999999]");
  }
  if (!(options.min_drop > 0) || options.min_drop > 0.9) {
    refuse("min_drop must be above 0 and at most 0.9");
  }
  const auto& expected = options.expect_samples_per_second;
  if (expected && !(*expected > 0 && std::isfinite(*expected))) {
    refuse("the expected throughput must be above 0 samples/s");
  }
}

/// A tie is given so long after the first certificate to resolve.
double tie_deadline(double certified_after) { return 3 * certified_after + 2; }

/// Looks grow rarer as rounds add up, so that their cost stays in proportion.
bool time_to_look(std::size_t rounds) {
  const std::size_t every = std::max<std::size_t>(1, rounds / 25);
  return rounds % every == 0;
}

class Session {
 public:
  Session(Replayer& replayer, const BisectOptions& options)
      : replayer_(replayer),
        options_(options),
        chain_(replayer.describe()),
        n_(static_cast<int>(chain_.stages.size())),
        runner_(replayer, options),
        plan_(plan_options()),
        rounds_(n_),
        ledger_(rounds_, options.confidence),
        builder_(chain_, options),
        serving_(chain_),
        null_evidence_(2 / (1 - options.confidence)),
        explain_phase_(replayer, runner_, plan_, chain_, options),
        random_({.seed = options.seed, .stage = hash_name("bisect")}) {}

  Report run() {
    for (const std::string& text : options_.what_ifs) (void)parse_what_if(text, chain_);
    builder_.begin();
    try {
      prepare();
      watch_.add(replayer_.read_machine());
      runner_.start();
      measure();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::interrupted) throw;
      rounds_.discard();
      interrupted_ = true;
    }
    if (rounds_.rounds() > 0) examine();
    explain();
    verify();
    watch_.add(replayer_.read_machine());
    return make_report();
  }

 private:
  [[nodiscard]] PlanOptions plan_options() const {
    if (n_ < 1) throw Error(ErrorKind::usage, "a chain without stages has nothing to bisect");
    PlanOptions plan;
    plan.stages = n_;
    plan.budget_seconds = options_.budget_seconds;
    plan.min_drop = options_.min_drop;
    plan.batch_size = static_cast<double>(chain_.batch_size);
    plan.workers = chain_.workers;
    plan.all = !options_.boundaries.empty();
    plan.candidates = options_.boundaries;
    for (int k = 0; k <= n_; ++k) {
      const bool supported = replayer_.supports({.boundary = k});
      if ((k == 0 || k == n_) && !supported) {
        throw Error(ErrorKind::usage, "the replayer cannot replay boundary " + std::to_string(k) +
                                          "; live and ceiling are needed");
      }
      if (supported && !plan.all) plan.candidates.push_back(k);
    }
    return plan;
  }

  [[nodiscard]] Report make_report() {
    const Explanation explanation = explain_phase_.explanation(findings_);
    return builder_.make(
        {.runner = runner_,
         .plan = plan_,
         .ledger = ledger_,
         .findings = findings_,
         .decision = decision_,
         .null_evidence = null_evidence_,
         .machine = watch_,
         .certified_after = certified_after_,
         .interrupted = interrupted_,
         .verdict_after = verdict_after_,
         .refill_seconds = refill_seconds_,
         .serve_seconds = serving_.seconds_per_sample(),
         .explanation = &explanation,
         .verified = verifier_ ? verifier_->verified() : std::vector<VerifiedArm>{}});
  }

  /// Between blocks, and rarely enough to cost nothing.
  void watch_machine() {
    if (replayer_.clock() - watched_at_ < kWatchSeconds) return;
    watched_at_ = replayer_.clock();
    watch_.add(replayer_.read_machine());
  }

  /// What the user would get if the run ended here, for callers who may not get the final one.
  void hand_out_partial() {
    if (!options_.partial) return;
    interrupted_ = true;
    options_.partial(make_report());
    interrupted_ = false;
  }

  void prepare() {
    runner_.set_phase("caches");
    runner_.report_progress({});
    const double before = replayer_.clock();
    facts_ = replayer_.prepare(options_.cache, options_.stop);
    builder_.prepared(facts_, replayer_.clock() - before);
    serving_.set_lookup(facts_.serve_seconds_per_sample);
  }

  void measure() {
    runner_.set_phase("pilot");
    Pilot pilot(runner_, plan_, chain_);
    pilot.ends();
    look_around(pilot);
    runner_.set_expected(runner_.elapsed() + kRoundsToCertify * plan_.round_seconds());
    runner_.set_phase("measure");
    while (round()) {
      if (!time_to_look(rounds_.rounds())) continue;
      examine();
      if (finished()) return;
      hand_out_partial();
      plan_.update(findings_, rounds_);
      look_around(pilot);
    }
  }

  /// Pilots what the plan asks for; the pilot's suspects are named before they have evidence.
  void look_around(Pilot& pilot) {
    pilot.explore();
    plan_.choose();
    if (named_) return;
    const std::vector<int> suspects = plan_.suspects();
    named_ = !suspects.empty();
    if (named_) ledger_.name_suspects(suspects);
  }

  /// The arms of a round in their random order.
  std::vector<Arm> draw_round() {
    std::vector<Arm> arms;
    for (const int k : plan_.boundaries()) arms.push_back({.boundary = k});
    null_debt_ += kNullShare * static_cast<double>(arms.size());
    if (null_debt_ >= 1) {
      const Arm null{.kind = ArmKind::null, .boundary = arms[random_.below(arms.size())].boundary};
      null_debt_ -= 1;
      if (replayer_.supports(null)) arms.push_back(null);
    }
    for (std::size_t i = arms.size(); i > 1; --i) std::swap(arms[i - 1], arms[random_.below(i)]);
    return arms;
  }

  /// Items that differ in size differ in cost: no few of them stand for all.
  void refill_if_due() {
    const auto done = rounds_.rounds();
    if (!facts_.sizes_vary || done == 0 || done % kRoundsPerFill != 0) return;
    const double before = replayer_.clock();
    // Where it cannot be done now, it cannot be done later.
    facts_.sizes_vary = replayer_.refill(0, options_.stop).has_value();
    refill_seconds_ += runner_.leave_out_since(before);
  }

  /// False when the budget has ended: the partial round is thrown away.
  bool round() {
    const auto done = rounds_.rounds();
    if (runner_.left() <= 0 || (done > 0 && plan_.round_seconds() > runner_.left())) return false;
    refill_if_due();
    runner_.begin_round(static_cast<int>(done));
    std::optional<std::pair<int, double>> null;
    for (const Arm& arm : draw_round()) {
      if (runner_.left() <= 0) {
        rounds_.discard();
        return false;
      }
      const BlockResult block = runner_.run(arm, plan_.warmup(), plan_.steps(arm.boundary));
      if (arm.kind == ArmKind::null) {
        null = {arm.boundary, std::log(block.seconds / static_cast<double>(block.samples))};
      } else {
        rounds_.add(arm.boundary, block.seconds, block.samples);
        serving_.add(arm, block);
      }
    }
    rounds_.commit();
    watch_machine();
    if (null) null_evidence_.add(*rounds_.log_tau(done, null->first) - null->second);
    return true;
  }

  void examine() {
    findings_ = look(ledger_, {options_.min_drop, chain_.workers, serving_.seconds_per_sample()});
    decision_ = decide(findings_, plan_, options_.min_drop);
    const bool certified = decision_.kind != VerdictKind::inconclusive;
    if (!certified) certified_after_.reset();
    if (certified && !certified_after_) certified_after_ = runner_.elapsed();
    runner_.set_best(best_estimate(chain_, findings_));
  }

  [[nodiscard]] bool finished() const {
    if (decision_.kind == VerdictKind::inconclusive) return false;
    return decision_.settled || runner_.elapsed() >= tie_deadline(*certified_after_);
  }

  /// The verdict stands; what is left of the budget says what would help.
  void explain() {
    verdict_after_ = runner_.elapsed();
    if (!options_.explain || interrupted_ || decision_.kind == VerdictKind::inconclusive) return;
    runner_.set_phase("explain");
    const int rounds = static_cast<int>(rounds_.rounds());
    try {
      explain_phase_.run({decision_, findings_, facts_, rounds}, random_,
                         [&] { hand_out_partial(); });
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::interrupted) throw;
      interrupted_ = true;
    }
  }

  /// Runs what was predicted, beside the live pipeline.
  void verify() {
    if (!options_.verify || interrupted_ || rounds_.rounds() == 0) return;
    runner_.set_phase("verify");
    verifier_.emplace(replayer_, runner_, plan_, make_report());
    try {
      verifier_->run(random_, [&] { hand_out_partial(); });
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::interrupted) throw;
      interrupted_ = true;
    }
  }

  static constexpr double kNullShare = 0.1;
  static constexpr double kWatchSeconds = 0.5;
  static constexpr std::size_t kRoundsPerFill = 8;
  static constexpr double kRoundsToCertify = 12;

  Replayer& replayer_;
  const BisectOptions& options_;
  ChainDescription chain_;
  int n_;
  BlockRunner runner_;
  Plan plan_;
  RoundTable rounds_;
  Ledger ledger_;
  ReportBuilder builder_;
  ServingCost serving_;
  Evidence null_evidence_;
  MachineWatch watch_;
  double watched_at_ = -kWatchSeconds;
  ExplainPhase explain_phase_;
  std::optional<Verifier> verifier_;
  RandomStream random_;
  CacheFacts facts_;
  Findings findings_;
  Decision decision_;
  std::optional<double> certified_after_;
  std::optional<double> verdict_after_;
  double null_debt_ = 0;
  double refill_seconds_ = 0;
  bool named_ = false;
  bool interrupted_ = false;
};

}  // namespace

Report bisect(Replayer& replayer, const BisectOptions& options) {
  check(options);
  return Session(replayer, options).run();
}

}  // namespace cachebisect
