#include "cachebisect/bisect/measure.hpp"

#include <array>
#include <cmath>
#include <ctime>
#include <string>

#include "cachebisect/base/current_error.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/bisect/advice/process_warnings.hpp"
#include "cachebisect/bisect/analysis.hpp"
#include "cachebisect/bisect/assemble.hpp"
#include "cachebisect/bisect/costs/what_if.hpp"
#include "cachebisect/bisect/phases/early_explanation.hpp"
#include "cachebisect/bisect/phases/explain_phase.hpp"
#include "cachebisect/bisect/phases/step_profile_phase.hpp"
#include "cachebisect/bisect/phases/storage_phase.hpp"
#include "cachebisect/bisect/phases/sustain_phase.hpp"
#include "cachebisect/bisect/phases/verdict_search.hpp"
#include "cachebisect/bisect/phases/verify_phase.hpp"
#include "cachebisect/bisect/record/check_settings.hpp"

namespace cachebisect {
namespace {

void check(const BisectOptions& options) {
  const auto refuse = [](const std::string& what) { throw Error(ErrorKind::usage, what); };
  if (!(options.budget_seconds > 0) || options.budget_seconds > 1e7) {
    refuse("the budget must be above 0 s and at most 1e7 s");
  }
  check_settings({.confidence = options.confidence, .min_drop = options.min_drop});
  const auto& sustain = options.sustain_seconds;
  if (sustain && (!(*sustain >= 0) || *sustain > 1e6)) {
    refuse("sustain must be 0 to 1e6 s");
  }
  const auto& expected = options.expect_samples_per_second;
  if (expected && !(*expected > 0 && std::isfinite(*expected))) {
    refuse("the expected throughput must be above 0 samples/s");
  }
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), length};
}

/// What the plan may visit. Throws Error(usage) if the chain has no stage or the replayer lacks one
/// of its ends.
RoundPlanOptions plan_options(const Replayer& replayer, const ChainDescription& chain,
                              const BisectOptions& options) {
  const int last = static_cast<int>(chain.stages.size());
  if (last < 1) throw Error(ErrorKind::usage, "a chain without stages has nothing to bisect");
  RoundPlanOptions plan;
  plan.stages = last;
  plan.budget_seconds = options.budget_seconds;
  plan.min_drop = options.min_drop;
  plan.batch_size = static_cast<double>(chain.batch_size);
  plan.blocks = block_length_options(chain);
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

Measurements begin(const Replayer& replayer, const BisectOptions& options) {
  Measurements measured;
  measured.started = utc_now();
  measured.chain = replayer.describe();
  measured.settings = {options.confidence, options.min_drop, options.budget_seconds,
                       options.io,         options.seed,     measured.chain.order_nonce};
  measured.questions = {options.what_ifs, options.verify, options.expect_samples_per_second,
                        options.cost_per_hour};
  measured.machine = probe_machine();
  for (const std::string& text : options.what_ifs) (void)parse_what_if(text, measured.chain);
  return measured;
}

bool bounds_loss(const VerdictState& state) { return state.findings.whole.interval().has_value(); }

/// One run from the description of the chain to the last round: caches, verdict, explanation,
/// verification.
class Run {
 public:
  Run(Replayer& replayer, const BisectOptions& options)
      : replayer_(replayer),
        options_(options),
        began_(replayer.clock()),
        measured_(begin(replayer, options)),
        blocks_(replayer, options, measured_.blocks),
        random_({.seed = options.seed, .stage = hash_name("bisect")}),
        rounds_(blocks_, random_),
        plan_(plan_options(replayer, measured_.chain, options)),
        search_(replayer, rounds_, plan_, options, measured_),
        early_(replayer, blocks_, plan_, options) {
    const double verdict_budget = verdict_share(measured_.questions) * options.budget_seconds;
    blocks_.set_budget(verdict_budget);
    plan_.set_budget(verdict_budget);
    if (options.explain) search_.set_extra_arms(early_);
  }

  Measurements run() {
    try {
      stopped_ = stops([this] {
        fill_caches();
        search_.read_machine();
        blocks_.start();
        search_.run(random_, [this] { hand_out_partial(); });
      });
    } catch (...) {
      conclude();
      throw;
    }
    conclude();
    after_verdict([this] { sustain(); });
    after_verdict([this] { resume(); });
    measured_.verdict_seconds = replayer_.clock() - began_;
    after_verdict([this] { explain(); });
    after_verdict([this] { profile(); });
    after_verdict([this] { count_requests(); });
    after_verdict([this] { verify(); });
    search_.read_machine();
    return snapshot(stopped_);
  }

 private:
  /// True if a stop ended the phase: what is known by then is reported. Other errors end the run.
  template <typename Phase>
  static bool stops(const Phase& phase) {
    try {
      phase();
      return false;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::interrupted) throw;
      return true;
    }
  }

  /// The verdict stands: an error of what follows is told, and nothing follows it.
  template <typename Phase>
  void after_verdict(const Phase& phase) {
    if (stopped_ || measured_.fault) return;
    try {
      phase();
    } catch (...) {
      const Error error = current_error(ErrorKind::data);
      stopped_ = error.kind() == ErrorKind::interrupted;
      if (!stopped_) measured_.fault = RunFault{error.what(), error.details()};
      hand_out_partial();
    }
  }

  /// Hands out what the rounds say, those of a super-round that ended early included.
  void conclude() {
    search_.conclude();
    if (measured_.verdict.table.rounds() > 0) hand_out_partial();
  }

  [[nodiscard]] Measurements snapshot(bool interrupted) const {
    Measurements measured = measured_;
    measured.interrupted = interrupted;
    measured.measure_seconds = blocks_.elapsed();
    measured.refill_seconds = blocks_.refill_seconds();
    measured.wall_seconds = replayer_.clock() - began_;
    if (measured.verdict_seconds == 0) measured.verdict_seconds = measured.wall_seconds;
    return measured;
  }

  /// The report that the user would get if the run ended here, for callers that may not get the
  /// final one.
  void hand_out_partial() const {
    if (!options_.partial) return;
    const Measurements measured = snapshot(true);
    options_.partial(assemble(measured, analyse(measured)));
  }

  void fill_caches() {
    blocks_.set_phase(BlockPhase::caches);
    blocks_.report_progress({});
    const double before = replayer_.clock();
    measured_.cache = replayer_.prepare(options_.cache, options_.stop);
    const double seconds = replayer_.clock() - before;
    blocks_.set_filled(measured_.cache.samples);
    measured_.prepare_seconds = std::max(0.0, seconds - measured_.cache.seconds);
  }

  /// Holds the verdict, or the bounds of an open one, against a run in one piece.
  void sustain() {
    const Decision& decision = search_.state().decision;
    const double seconds = sustain_seconds(options_, decision.kind, measured_);
    if (seconds <= 0 || (!decision.certified() && !bounds_loss(search_.state()))) return;
    blocks_.set_phase(BlockPhase::sustain);
    run_sustained(blocks_, plan_, seconds, measured_);
  }

  /// Stalls that the rounds have not met take the verdict back, until they have met some.
  void resume() {
    if (search_.resume(random_, [this] { hand_out_partial(); })) search_.conclude();
  }

  /// What is left of the budget says what would help.
  void explain() {
    if (!options_.explain || !measured_.verdict.certified_after_seconds) return;
    blocks_.set_phase(BlockPhase::explain);
    ExplainPhase phase(replayer_, rounds_, plan_, options_, measured_);
    phase.run(search_.state(), early_, [this] { hand_out_partial(); });
  }

  /// A step that the host limits: its functions, where they can be told.
  void profile() {
    const ChainDescription& chain = measured_.chain;
    if (!options_.explain || !chain.profiles_steps) return;
    if (search_.state().decision.kind != VerdictKind::flat) return;
    if (chain.device_kind != DeviceKind::cpu && !is_host_bound(measured_)) return;
    blocks_.set_phase(BlockPhase::explain);
    const double before = blocks_.clock();
    profile_step(replayer_, plan_, options_.stop, measured_);
    blocks_.exclude_since(before);
  }

  /// A verdict that names reading: what it asks of storage, where that can be told.
  void count_requests() {
    if (!options_.explain || !measured_.chain.counts_storage) return;
    const Measurements measured = snapshot(false);
    if (!names_reading(analyse(measured).verdict, measured.chain)) return;
    blocks_.set_phase(BlockPhase::explain);
    const double before = blocks_.clock();
    count_storage(replayer_, options_.stop, measured_);
    blocks_.exclude_since(before);
  }

  /// Runs what was predicted, alongside the live pipeline.
  void verify() {
    if (!options_.verify || measured_.verdict.table.rounds() == 0) return;
    blocks_.set_phase(BlockPhase::verify);
    blocks_.set_budget(blocks_.budget() / verdict_share(measured_.questions));
    const Measurements measured = snapshot(false);
    const std::vector<Arm> arms = arms_to_verify(measured, analyse(measured));
    VerifyPhase phase(replayer_, rounds_, plan_, measured_);
    phase.run(arms, [this] { hand_out_partial(); });
  }

  Replayer& replayer_;
  const BisectOptions& options_;
  double began_;
  Measurements measured_;
  BlockRunner blocks_;
  RandomStream random_;
  RoundRunner rounds_;
  RoundPlan plan_;
  VerdictSearch search_;
  EarlyExplanation early_;
  bool stopped_ = false;
};

}  // namespace

Measurements measure(Replayer& replayer, const BisectOptions& options) {
  check(options);
  return Run(replayer, options).run();
}

}  // namespace cachebisect
