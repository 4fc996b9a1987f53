#include "cachebisect/tune/tune.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/machine.hpp"
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
    const double cpus = replayer.describe().usable_cpus.value_or(probe_machine().usable_cpus);
    BisectOptions asked;
    asked.budget_seconds = budget_seconds;
    asked.confidence = options_.confidence;
    asked.seed = options_.seed;
    asked.explain = false;
    asked.what_ifs = questions(job.workers, cpus);
    asked.progress = options_.progress;
    asked.stop = options_.stop;
    Report report = bisect(replayer, asked);
    if (report.interrupted) throw Error(ErrorKind::interrupted, "stopped");
    return report;
  }

  Comparison compare(const std::vector<Edit>& edits, double budget_seconds) override {
    Job now = open(spec_);
    Job other = open(changed(edits));
    PipelineReplayer a = now.make_replayer();
    PipelineReplayer b = other.make_replayer();
    JobPair pair(a, b);
    const PairedRounds rounds =
        measure_pairs(pair, {Arm{}, a.describe()}, {JobPair::other_job(), b.describe()},
                      {.budget_seconds = budget_seconds,
                       .confidence = options_.confidence,
                       .seed = options_.seed,
                       .enough = is_decided,
                       .progress = options_.progress,
                       .stop = options_.stop});
    if (rounds.interrupted) throw Error(ErrorKind::interrupted, "stopped");
    if (rounds.table.rounds() == 0) {
      throw Error(ErrorKind::data, "the budget ended before it was compared");
    }
    return {paired_rate_ratio(rounds.table, options_.confidence), rounds.seconds};
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

}  // namespace

int Result::kept() const noexcept {
  return static_cast<int>(std::ranges::count_if(trials, &Trial::kept));
}

Result tune(const PipelineSpec& spec, const Registry& registry, const Options& options) {
  PipelineSubject subject(spec, registry, options);
  return climb(subject, options);
}

}  // namespace cachebisect::tune
