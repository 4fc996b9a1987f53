#include "cachebisect/tune/replayer_subject.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/bisect/advice/remedies.hpp"
#include "cachebisect/tune/measuring.hpp"

namespace cachebisect::tune {

ReplayerSubject::ReplayerSubject(Replayer& replayer, const Options& options)
    : replayer_(replayer), options_(options) {
  if (!options.scratch.empty()) scratch_.emplace(options.scratch);
}

Report ReplayerSubject::diagnose(double budget_seconds) {
  Report report = diagnosed(replayer_, options_, budget_seconds);
  bytes_.clear();
  for (const StageReport& stage : report.stages) bytes_.push_back(stage.output_bytes);
  return report;
}

void ReplayerSubject::make(Trial& trial, double samples_per_second) {
  if (!scratch_) return Subject::make(trial, samples_per_second);
  scratch_->make(trial, described(), samples_per_second, options_.stop);
}

Comparison ReplayerSubject::compare(const std::vector<Edit>& edits, double budget_seconds) {
  const ChainDescription chain = replayer_.describe();
  return compared(replayer_, {best_, chain}, {changed(edits), chain}, options_, budget_seconds);
}

std::string ReplayerSubject::json() const {
  nlohmann::ordered_json settings = nlohmann::ordered_json::object();
  for (const auto& [name, value] : best_.overrides) {
    settings[name] = nlohmann::ordered_json::parse(value, nullptr, false);
    if (settings[name].is_discarded()) settings[name] = value;
  }
  return settings.dump();
}

ChainDescription ReplayerSubject::described() const {
  ChainDescription chain = replayer_.describe();
  for (std::size_t s = 0; s < std::min(chain.stages.size(), bytes_.size()); ++s) {
    if (!chain.stages[s].output_bytes) chain.stages[s].output_bytes = bytes_[s];
  }
  return chain;
}

Arm ReplayerSubject::changed(const std::vector<Edit>& edits) const {
  const auto arm = arm_of({.edits = edits}, replayer_.describe().settings);
  if (!arm) throw Error(ErrorKind::usage, "it cannot be run next to the job as it is");
  Arm both = best_;
  both.kind = ArmKind::live;
  for (const auto& [name, value] : arm->overrides) both.overrides[name] = value;
  if (replayer_.supports(both)) return both;
  const std::string why = replayer_.why_unsupported(both);
  throw Error(ErrorKind::usage, why.empty() ? "this job cannot run it" : why);
}

}  // namespace cachebisect::tune
