#include "cachebisect/bisect/advice/remedies.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>

#include "cachebisect/base/setting_path.hpp"
#include "cachebisect/bisect/advice/advice_queue.hpp"
#include "cachebisect/bisect/phases/verify_phase.hpp"
#include "cachebisect/bisect/record/bars.hpp"
#include "cachebisect/protocol/job_setting_text.hpp"

namespace cachebisect {
namespace {

void advise_on(Advice& advice, const std::string& name) {
  const auto& stages = advice.stages();
  const auto found = std::find_if(stages.begin(), stages.end(),
                                  [&](const StageReport& s) { return s.name == name; });
  if (found == stages.end()) return;
  if (found->category == Category::transfer) return advise_on_transfer(advice, *found);
  if (found->category == Category::pin) return advise_on_pinning(advice, *found);
  const bool batch = found->category == Category::collate || !runs_on_host(found->category);
  batch ? advise_on_batch_stage(advice, *found) : advise_on_sample_stage(advice, *found);
}

/// Of the stages that were measured together, those in which workers spend at least half of the
/// time that they spend in all, the slowest first.
void advise_on_together(Advice& advice, const std::string& span) {
  std::vector<const StageReport*> members;
  double total = 0;
  for (const StageReport& stage : advice.stages()) {
    if (stage.span != span || !Advice::observed(stage)) continue;
    members.push_back(&stage);
    total += Advice::busy_seconds(stage);
  }
  std::ranges::stable_sort(members, std::greater{},
                           [](const StageReport* stage) { return Advice::busy_seconds(*stage); });
  double held = 0;
  for (const StageReport* const stage : members) {
    if (2 * held >= total) break;
    held += Advice::busy_seconds(*stage);
    advise_on(advice, stage->name);
  }
}

std::optional<double> lower_end(const Estimate& gain) {
  return gain.interval ? gain.interval->low : gain.value;
}

/// What changes training is at most as good as what nobody knows the gain of.
std::pair<bool, double> rank(const Remedy& remedy) {
  const Estimate& known = remedy.measured.value ? remedy.measured : remedy.predicted;
  const double gain = lower_end(known).value_or(0);
  if (is_semantic(remedy.id)) return {false, std::min(0.0, gain)};
  return {remedy.measured.value && gain > 0, gain};
}

/// True if not even the upper end of the prediction is a gain, and nothing was measured.
bool gains_nothing(const Remedy& remedy, double live) {
  const auto& predicted = remedy.predicted.interval;
  return predicted && !remedy.measured.value && predicted->high < kNegligible * live;
}

}  // namespace

std::vector<Proposal> find_proposals(const Measurements& measured, const Waterfall& waterfall,
                                     const Verdict& verdict) {
  Advice advice(measured, waterfall);
  switch (verdict.kind) {
    case VerdictKind::drop:
      advise_on(advice, verdict.fix_first);
      advise_on(advice, verdict.stage);
      advise_on_together(advice, verdict.stage);
      for (const std::string& name : verdict.tied_with) advise_on(advice, name);
      break;
    case VerdictKind::spread:
      advice.add_workers({}, "many stages together keep the workers busy");
      for (const std::string& name : verdict.shares) advise_on(advice, name);
      break;
    case VerdictKind::flat:
      advise_on_training_step(advice);
      break;
    case VerdictKind::anomaly:
    case VerdictKind::inconclusive:
      break;
  }
  return advice.proposals();
}

std::optional<Arm> arm_of(const Remedy& remedy, const JobSettings& settings) {
  if (remedy.edits.empty()) return std::nullopt;
  Arm arm{.kind = ArmKind::live};
  for (const Edit& edit : remedy.edits) {
    const auto path = SettingPath::from_pointer(edit.path);
    if (edit.kind != EditKind::set || !path || path->parts().empty()) return std::nullopt;
    const auto name = override_name(settings, path->dotted());
    if (!name) return std::nullopt;
    arm.overrides[*name] = edit.value;
  }
  return arm;
}

void write_in_code(Remedy& remedy, const JobSettings& settings) {
  std::string line = settings.advice_or(remedy.id, "");
  if (!line.empty()) {
    remedy.lines.push_back(std::move(line));
  } else if (remedy.lines.empty()) {
    for (const Edit& edit : remedy.edits) {
      const auto path = SettingPath::from_pointer(edit.path);
      const JobSetting* const setting = path ? settings.at(path->dotted()) : nullptr;
      if (setting != nullptr) remedy.lines.push_back(code_line(*setting, edit.value));
    }
  }
  remedy.edits.clear();
  remedy.flags.clear();
}

std::span<const Remedy> first_remedies(const std::vector<Remedy>& remedies) {
  return std::span(remedies).first(std::min(kMostShownRemedies, remedies.size()));
}

bool is_semantic(std::string_view id) noexcept {
  constexpr std::array<std::string_view, 7> kSemantic{
      "batch_size", "precision", "model", "partial_decode", "half", "reuse", "bucket"};
  return std::ranges::find(kSemantic, id) != kSemantic.end();
}

void leave_out_without_gain(double live, std::vector<Remedy>& remedies) {
  std::erase_if(remedies, [live](const Remedy& remedy) { return gains_nothing(remedy, live); });
}

void sort_by_gain(std::vector<Remedy>& remedies) {
  std::ranges::stable_sort(remedies, std::greater{}, rank);
}

std::vector<Remedy> find_remedies(const Measurements& measured, const Waterfall& waterfall,
                                  const Verdict& verdict, const std::optional<Forecast>& forecast) {
  std::vector<Remedy> remedies;
  const auto& live = waterfall.live.value;
  std::vector<Proposal> proposals = find_proposals(measured, waterfall, verdict);
  const bool loses = verdict.kind == VerdictKind::drop || verdict.kind == VerdictKind::spread;
  if (forecast && loses) {
    if (auto queue = longer_queue(measured.chain, *forecast)) {
      proposals.push_back(*std::move(queue));
    }
  }
  for (const auto& [proposed, changes, other] : proposals) {
    Remedy& remedy = remedies.emplace_back(proposed);
    if (forecast && changes && live) {
      const Estimate rate = other ? forecast->between(*changes, *other) : forecast->after(*changes);
      remedy.predicted = shifted(rate, -*live);
    }
    remedy.arm = arm_of(remedy, measured.chain.settings);
    if (!measured.chain.settings.of_file) write_in_code(remedy, measured.chain.settings);
    const auto verified = remedy.arm ? verification_of(measured, *remedy.arm) : std::nullopt;
    if (!verified || !verified->speedup.value || !live) continue;
    remedy.measured = scaled(shifted(verified->speedup, -1), *live);
  }
  leave_out_without_gain(live.value_or(0), remedies);
  sort_by_gain(remedies);
  return remedies;
}

}  // namespace cachebisect
