#include "cachebisect/tune/tune.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/bisect/advice/remedies.hpp"
#include "cachebisect/bisect/advice/scratch_remedies.hpp"
#include "cachebisect/tune/climb.hpp"
#include "cachebisect/tune/measuring.hpp"
#include "cachebisect/tune/pipeline_subject.hpp"

namespace cachebisect::tune {
namespace {

/// Its changes are overrides of live arms.
class ReplayerSubject final : public Subject {
 public:
  ReplayerSubject(Replayer& replayer, const Options& options)
      : replayer_(replayer), options_(options) {}

  Report diagnose(double budget_seconds) override {
    return diagnosed(replayer_, options_, budget_seconds);
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

bool Trial::needs_scratch() const noexcept { return !written_after.empty() || id == kDiskCacheId; }

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
