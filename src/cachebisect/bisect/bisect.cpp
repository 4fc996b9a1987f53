#include "cachebisect/bisect/bisect.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/bisect/costs/what_if.hpp"
#include "cachebisect/bisect/explain/explain_phase.hpp"
#include "cachebisect/bisect/explain/verify.hpp"
#include "cachebisect/bisect/record/block_runner.hpp"
#include "cachebisect/bisect/report/report_builder.hpp"
#include "cachebisect/bisect/search/measurement.hpp"
#include "cachebisect/bisect/search/plan.hpp"

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

/// What the plan may visit. Throws Error(usage) where the chain has no stage or the replayer lacks
/// one of its ends.
PlanOptions plan_options(const Replayer& replayer, const ChainDescription& chain,
                         const BisectOptions& options) {
  const int last = static_cast<int>(chain.stages.size());
  if (last < 1) throw Error(ErrorKind::usage, "a chain without stages has nothing to bisect");
  PlanOptions plan;
  plan.stages = last;
  plan.budget_seconds = options.budget_seconds;
  plan.min_drop = options.min_drop;
  plan.batch_size = static_cast<double>(chain.batch_size);
  plan.workers = chain.workers;
  for (int s = 1; s <= plan.stages; ++s) {
    const StageKind kind = chain.stages[static_cast<std::size_t>(s) - 1].kind;
    if (works_on_batches(kind)) plan.ready_from = s;
  }
  plan.all = !options.boundaries.empty();
  plan.candidates = options.boundaries;
  for (int k = 0; k <= last; ++k) {
    const bool supported = replayer.supports({.boundary = k});
    if ((k == 0 || k == last) && !supported) {
      throw Error(ErrorKind::usage, "the replayer cannot replay boundary " + std::to_string(k) +
                                        "; live and ceiling are needed");
    }
    if (supported && !plan.all) plan.candidates.push_back(k);
  }
  return plan;
}

/// One run from the first look at the chain to the report: caches, measurement, what explains the
/// verdict, what-ifs.
class Session {
 public:
  Session(Replayer& replayer, const BisectOptions& options)
      : replayer_(replayer),
        options_(options),
        chain_(replayer.describe()),
        runner_(replayer, options),
        plan_(plan_options(replayer, chain_, options)),
        measurement_(replayer, runner_, plan_, chain_, options),
        explain_phase_(replayer, runner_, plan_, chain_, options),
        builder_(chain_, options),
        random_({.seed = options.seed, .stage = hash_name("bisect")}) {}

  Report run() {
    for (const std::string& text : options_.what_ifs) (void)parse_what_if(text, chain_);
    builder_.begin();
    unless_interrupted([this] {
      prepare();
      measurement_.read_machine();
      runner_.start();
      measurement_.run(random_, [this] { hand_out_partial(); });
    });
    measurement_.conclude();
    verdict_after_ = runner_.elapsed();
    explain();
    verify();
    measurement_.read_machine();
    return make_report();
  }

 private:
  /// A stop ends a phase, and what is known by then is reported; other errors end the run.
  template <typename Phase>
  void unless_interrupted(const Phase& phase) {
    try {
      phase();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::interrupted) throw;
      interrupted_ = true;
    }
  }

  [[nodiscard]] Report make_report() {
    const Explanation explanation = explain_phase_.explanation(measurement_.findings());
    return builder_.make(
        {.runner = runner_,
         .plan = plan_,
         .ledger = measurement_.ledger(),
         .findings = measurement_.findings(),
         .decision = measurement_.decision(),
         .null_evidence = measurement_.null_evidence(),
         .machine = measurement_.machine(),
         .certified_after = measurement_.certified_after(),
         .interrupted = interrupted_,
         .verdict_after = verdict_after_,
         .refill_seconds = measurement_.refill_seconds(),
         .serve_seconds = measurement_.serve_seconds(),
         .explanation = &explanation,
         .verified = verifier_ ? verifier_->verified() : std::vector<VerifiedArm>{}});
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
    measurement_.set_caches(facts_);
  }

  /// The verdict stands; what is left of the budget says what would help.
  void explain() {
    if (!options_.explain || interrupted_ || !measurement_.certified()) return;
    runner_.set_phase("explain");
    const int rounds = static_cast<int>(measurement_.rounds());
    unless_interrupted([&] {
      explain_phase_.run({measurement_.decision(), measurement_.findings(), facts_, rounds},
                         random_, [this] { hand_out_partial(); });
    });
  }

  /// Runs what was predicted, beside the live pipeline.
  void verify() {
    if (!options_.verify || interrupted_ || measurement_.rounds() == 0) return;
    runner_.set_phase("verify");
    verifier_.emplace(replayer_, runner_, plan_, make_report());
    unless_interrupted([this] { verifier_->run(random_, [this] { hand_out_partial(); }); });
  }

  Replayer& replayer_;
  const BisectOptions& options_;
  ChainDescription chain_;
  BlockRunner runner_;
  Plan plan_;
  Measurement measurement_;
  ExplainPhase explain_phase_;
  std::optional<Verifier> verifier_;
  ReportBuilder builder_;
  RandomStream random_;
  CacheFacts facts_;
  std::optional<double> verdict_after_;
  bool interrupted_ = false;
};

}  // namespace

Report bisect(Replayer& replayer, const BisectOptions& options) {
  check(options);
  return Session(replayer, options).run();
}

}  // namespace cachebisect
