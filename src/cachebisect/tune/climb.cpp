#include "cachebisect/tune/climb.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/report/words/json_patch.hpp"
#include "cachebisect/tune/candidates.hpp"

namespace cachebisect::tune {
namespace {

constexpr double kAtCeiling = 0.98;  ///< share of it from which on the step is the limit
constexpr int kMaxTrials = 4;        ///< after each diagnosis
constexpr double kTrialSeconds = 30;
constexpr double kDiagnosisSeconds = 25;
constexpr const char* kStepLimits = "the training step is the limit";
constexpr const char* kBudgetEnded = "the budget of measuring has ended";
constexpr double kLeastSeconds = 1;  ///< left of the budget to begin with anything

/// What tells a change of one version from another, wherever it writes to, and whatever the order
/// of members is in which a ladder was read.
std::string key_of(const Trial& trial) {
  if (!trial.written_after.empty()) return "written after " + trial.written_after;
  if (trial.needs_scratch()) return trial.text;
  return nlohmann::json::parse(json_patch(trial.edits)).dump();
}

/// Samples are made once: a second change that does so has nothing left to gain.
bool keeps_samples(const Trial& trial) { return trial.id == "cache" || trial.needs_scratch(); }

class Climb {
 public:
  Climb(Subject& subject, const Options& options) : subject_(subject), options_(options) {
    if (options.resumed) resume(*options.resumed);
  }

  Result run() {
    diagnose();
    note_start();
    try {
      while (!limit_reached() && improve()) {
        if (!subject_.diagnoses_again()) continue;
        diagnose();
        note_reached();
      }
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::internal) throw;
      result_.interrupted = error.kind() == ErrorKind::interrupted;
      result_.end = result_.interrupted ? "interrupted" + left_behind_ : error.what();
    }
    note_untried();
    return std::move(result_);
  }

 private:
  /// The budget begins anew.
  void resume(const Result& earlier) {
    result_ = earlier;
    result_.seconds = 0;
    result_.end.clear();
    result_.interrupted = false;
    const auto last = std::ranges::find_if(result_.trials.rbegin(), result_.trials.rend(),
                                           [](const Trial& trial) { return trial.kept; });
    for (auto trial = last.base(); trial != result_.trials.end(); ++trial) {
      seen_.insert(subject_.json() + key_of(*trial));
    }
  }

  /// A verdict that is not certain and suggests nothing gets what is left of the budget.
  void diagnose() {
    diagnose_within(std::min(kDiagnosisSeconds, left()));
    const double longer = left() - kTrialSeconds;
    if (has_no_answer() && longer > kDiagnosisSeconds) diagnose_within(longer);
  }

  void diagnose_within(double seconds) {
    announce("diagnosing");
    report_ = subject_.diagnose(seconds);
    result_.seconds += report_.timing.measure_seconds + report_.timing.sustain_seconds;
    reached_ = reached_by(report_);
    result_.device = report_.chain.device_name;
    result_.best = reached_;
    result_.ceiling = report_.ceiling;
    result_.verdict = (subject_.diagnoses_again() ? "" : "At the start: ") + report_.verdict.text;
    result_.pipeline_json = subject_.json();
  }

  void note_start() {
    if (result_.start.value) return;
    result_.name = report_.chain.name;
    result_.start = reached_;
    result_.start_seconds = step_seconds();
  }

  /// The change that was kept last is now part of what was diagnosed.
  void note_reached() {
    result_.trials.back().samples_per_second = reached_.value;
    result_.trials.back().step_seconds = step_seconds();
  }

  [[nodiscard]] std::optional<double> step_seconds() const {
    if (!reached_.value || !(*reached_.value > 0)) return std::nullopt;
    return static_cast<double>(report_.chain.batch_size) / *reached_.value;
  }

  bool limit_reached() {
    const auto& target = options_.target_samples_per_second;
    if (target && reached_.value && *reached_.value >= *target) {
      result_.end = "the target is reached";
    } else if (is_flat() ? candidates(report_, allows()).empty() : is_at_ceiling()) {
      result_.end = kStepLimits;
    }
    is_over_ = !result_.end.empty();
    return is_over_;
  }

  /// The input costs nothing: what is left to change is the training step.
  [[nodiscard]] bool is_flat() const { return report_.verdict.kind == VerdictKind::flat; }

  [[nodiscard]] bool has_no_answer() const {
    return report_.verdict.kind == VerdictKind::inconclusive &&
           candidates(report_, allows()).empty();
  }

  [[nodiscard]] bool allows() const { return options_.allow_semantic; }

  /// Whether a version that is not diagnosed reaches the ceiling.
  [[nodiscard]] bool is_at_ceiling() const {
    const auto& ceiling = result_.ceiling.value;
    return !subject_.diagnoses_again() && reached_.value && ceiling &&
           *reached_.value >= kAtCeiling * *ceiling;
  }

  /// Keeps the first change that gains. False if none does, or if the budget has ended.
  bool improve() {
    int tried = 0;
    for (Trial& trial : candidates(report_, allows())) {
      if (tried == kMaxTrials) break;
      if (budget_has_ended()) return false;
      if (is_kept(trial) || lacks_scratch(trial)) continue;
      if (!seen_.insert(result_.pipeline_json + key_of(trial)).second) continue;
      ++tried;
      if (is_of_another_version()) trial.predicted = {};
      try_out(trial);
      result_.trials.push_back(trial);
      if (trial.kept) return !budget_has_ended();
    }
    result_.end = tried > 0         ? "nothing that was tried gains 1% or more"
                  : is_flat()       ? kStepLimits
                  : has_no_answer() ? kBudgetEnded
                                    : "no other change is predicted to gain 1% or more";
    return false;
  }

  /// What was diagnosed lacks a change that was kept since: its predictions do not hold.
  [[nodiscard]] bool is_of_another_version() const {
    return !subject_.diagnoses_again() && result_.kept() > 0;
  }

  void announce(const std::string& what) const {
    if (options_.announce) options_.announce(what);
  }

  [[nodiscard]] bool lacks_scratch(const Trial& trial) const {
    return options_.scratch.empty() && trial.needs_scratch();
  }

  /// Notes what the last diagnosis left untried, unless all is reached.
  void note_untried() {
    result_.untried.clear();
    if (is_over_) return;
    for (Trial& trial : candidates(report_, allows())) {
      if (lacks_scratch(trial) && !is_kept(trial)) result_.untried.push_back(std::move(trial));
    }
  }

  /// The diagnosis may be that of a version that did not have it yet, or that kept no samples.
  [[nodiscard]] bool is_kept(const Trial& trial) const {
    return std::ranges::any_of(result_.trials, [&](const Trial& t) {
      return t.kept && !subject_.diagnoses_again() &&
             (t.text == trial.text || (keeps_samples(t) && keeps_samples(trial)));
    });
  }

  bool budget_has_ended() {
    if (left() >= kLeastSeconds) return false;
    result_.end = kBudgetEnded;
    return true;
  }

  void try_out(Trial& trial) {
    announce("trying: " + trial.text);
    try {
      if (trial.needs_scratch()) make(trial);
      const Comparison compared = subject_.compare(trial.edits, std::min(kTrialSeconds, left()));
      result_.seconds += compared.seconds;
      trial.measured = change_of(compared.gain);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::interrupted || error.kind() == ErrorKind::internal) throw;
      trial.fault = error.what();
    }
    const auto& [value, interval] = trial.measured;
    trial.kept = value && interval && interval->low > 0 && *value >= kLeastGain;
    if (trial.kept) keep(trial);
    if (!trial.kept && !trial.folder.empty()) trial.removed = subject_.discard(trial);
    left_behind_.clear();
  }

  /// What an interruption leaves is gone on with the next time.
  void make(Trial& trial) {
    try {
      subject_.make(trial, reached_.value.value_or(0));
    } catch (const Error& error) {
      left_behind_ = std::string(": ") + error.what();
      throw;
    }
    left_behind_ = "; what was written stays in " + trial.folder;
    announce("trying: " + trial.text);
  }

  void keep(Trial& trial) {
    subject_.keep(trial.edits);
    result_.pipeline_json = subject_.json();
    if (!reached_.value) return;
    trial.samples_per_second = *reached_.value * (1 + *trial.measured.value);
    reached_ = {.value = trial.samples_per_second};
    trial.step_seconds = step_seconds();
    result_.best = reached_;
  }

  [[nodiscard]] double left() const { return options_.budget_seconds - result_.seconds; }

  Subject& subject_;
  const Options& options_;
  Report report_;
  Estimate reached_;  ///< by the version that was diagnosed
  Result result_;
  std::set<std::string> seen_;  ///< versions with the changes that were tried on them
  bool is_over_ = false;        ///< there is nothing more to gain
  std::string left_behind_;     ///< by the trial that runs, in words
};

}  // namespace

Result climb(Subject& subject, const Options& options) { return Climb(subject, options).run(); }

}  // namespace cachebisect::tune
