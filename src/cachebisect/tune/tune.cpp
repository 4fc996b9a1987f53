#include "cachebisect/tune/tune.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/bisect/advice/remedies.hpp"
#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/compare/job_pair.hpp"
#include "cachebisect/compare/paired_rounds.hpp"
#include "cachebisect/replay/job/open_job.hpp"
#include "cachebisect/report/words/json_patch.hpp"
#include "cachebisect/tune/candidates.hpp"
#include "cachebisect/tune/climb.hpp"

namespace cachebisect::tune {
namespace {

/// Half width of an interval that need not be narrower, as log throughput: of a gain that is
/// certain, and of one that is not.
constexpr double kNarrow = 0.02;
constexpr double kVeryNarrow = 0.003;

/// Known well enough to keep the change or to leave it.
bool is_decided(const LogRatio& gain) {
  if (!gain.interval) return false;
  const double least = std::log1p(kLeastGain);
  if (gain.interval->high < least || is_narrow(gain, kVeryNarrow)) return true;
  return gain.interval->low > least && is_narrow(gain, std::max(kNarrow, gain.value / 4));
}

BisectOptions diagnosis(const Options& options, double budget_seconds,
                        const ChainDescription& chain) {
  BisectOptions asked;
  asked.budget_seconds = budget_seconds;
  asked.confidence = options.confidence;
  asked.seed = options.seed;
  asked.explain = false;
  asked.what_ifs = questions(chain, chain.usable_cpus.value_or(probe_machine().usable_cpus));
  asked.progress = options.progress;
  asked.stop = options.stop;
  return asked;
}

Report diagnosed(Replayer& replayer, const BisectOptions& asked) {
  Report report = bisect(replayer, asked);
  if (report.interrupted) throw Error(ErrorKind::interrupted, "stopped");
  return report;
}

Comparison compared(Replayer& replayer, const PairedArm& now, const PairedArm& other,
                    const Options& options, double budget_seconds) {
  const PairedRounds rounds = measure_pairs(replayer, now, other,
                                            {.budget_seconds = budget_seconds,
                                             .confidence = options.confidence,
                                             .seed = options.seed,
                                             .enough = is_decided,
                                             .progress = options.progress,
                                             .stop = options.stop});
  if (rounds.interrupted) throw Error(ErrorKind::interrupted, "stopped");
  if (rounds.table.rounds() == 0) {
    throw Error(ErrorKind::data, "the budget ended before it was compared");
  }
  return {paired_rate_ratio(rounds.table, options.confidence), rounds.seconds};
}

class PipelineSubject final : public Subject {
 public:
  PipelineSubject(PipelineSpec spec, const Registry& registry, const Options& options)
      : spec_(std::move(spec)), registry_(registry), options_(options) {}

  Report diagnose(double budget_seconds) override {
    Job job = open(spec_);
    if (spec_.workers == kAutoWorkers) {
      spec_ = changed({{"/workers", std::to_string(job.workers)}});
    }
    PipelineReplayer replayer = job.make_replayer();
    return diagnosed(replayer, diagnosis(options_, budget_seconds, replayer.describe()));
  }
  [[nodiscard]] bool diagnoses_again() const override { return true; }

  Comparison compare(const std::vector<Edit>& edits, double budget_seconds) override {
    Job now = open(spec_);
    Job other = open(changed(edits));
    PipelineReplayer a = now.make_replayer();
    PipelineReplayer b = other.make_replayer();
    JobPair pair(a, b);
    return compared(pair, {Arm{}, a.describe()}, {JobPair::other_job(), b.describe()}, options_,
                    budget_seconds);
  }

  void keep(const std::vector<Edit>& edits) override { spec_ = changed(edits); }
  [[nodiscard]] std::string json() const override { return to_json(spec_); }

 private:
  [[nodiscard]] PipelineSpec changed(const std::vector<Edit>& edits) const {
    return patch_pipeline(spec_, registry_, json_patch(edits));
  }
  [[nodiscard]] Job open(const PipelineSpec& spec) const {
    return open_job(spec, registry_, {.opening = {.stop = options_.stop}});
  }

  PipelineSpec spec_;
  const Registry& registry_;
  const Options& options_;
};

/// Its changes are overrides of live arms.
class ReplayerSubject final : public Subject {
 public:
  ReplayerSubject(Replayer& replayer, const Options& options)
      : replayer_(replayer), options_(options) {}

  Report diagnose(double budget_seconds) override {
    return diagnosed(replayer_, diagnosis(options_, budget_seconds, replayer_.describe()));
  }
  [[nodiscard]] bool diagnoses_again() const override { return false; }

  Comparison compare(const std::vector<Edit>& edits, double budget_seconds) override {
    const ChainDescription chain = replayer_.describe();
    return compared(replayer_, {best_, chain}, {changed(edits), chain}, options_, budget_seconds);
  }

  void keep(const std::vector<Edit>& edits) override { best_ = changed(edits); }

  [[nodiscard]] std::string json() const override {
    nlohmann::ordered_json settings = nlohmann::ordered_json::object();
    for (const auto& [name, value] : best_.overrides) {
      settings[name] = nlohmann::ordered_json::parse(value, nullptr, false);
      if (settings[name].is_discarded()) settings[name] = value;
    }
    return settings.dump();
  }

 private:
  /// Throws Error(usage) for edits that no live arm runs.
  [[nodiscard]] Arm changed(const std::vector<Edit>& edits) const {
    const auto arm = arm_of({.edits = edits}, replayer_.describe().settings);
    if (!arm) throw Error(ErrorKind::usage, "it cannot be run next to the job as it is");
    Arm both = best_;
    both.kind = ArmKind::live;
    for (const auto& [name, value] : arm->overrides) both.overrides[name] = value;
    if (!replayer_.supports(both)) throw Error(ErrorKind::usage, "this job cannot run it");
    return both;
  }

  Replayer& replayer_;
  const Options& options_;
  Arm best_;
};

}  // namespace

int Result::kept() const noexcept {
  return static_cast<int>(std::ranges::count_if(trials, &Trial::kept));
}

Result tune(const PipelineSpec& spec, const Registry& registry, const Options& options) {
  PipelineSubject subject(spec, registry, options);
  return climb(subject, options);
}

Result tune(Replayer& replayer, const Options& options) {
  ReplayerSubject subject(replayer, options);
  return climb(subject, options);
}

}  // namespace cachebisect::tune
