#include "cachebisect/report/words/arm_text.hpp"

#include <cstddef>

#include "cachebisect/bisect/report/ranks_text.hpp"

namespace cachebisect {
namespace {

/// Stages count from 1.
std::string stage_name(const Report& report, int stage) {
  const auto index = static_cast<std::size_t>(stage) - 1;
  const bool known = stage > 0 && index < report.stages.size();
  return known ? report.stages[index].name : "stage " + std::to_string(stage);
}

std::string replay_text(const Arm& arm, const Report& report) {
  const bool last = static_cast<std::size_t>(arm.boundary) == report.stages.size();
  std::string text = "live";
  if (arm.boundary > 0) {
    text = last ? "step alone" : "replayed after " + stage_name(report, arm.boundary);
  }
  if (!arm.ranks.is_all()) text += " on " + ranks_text(arm.ranks) + ", the others live";
  if (arm.cache_samples > 0) text += ", " + std::to_string(arm.cache_samples) + " cached samples";
  return arm.observed ? text : text + ", without probes";
}

std::string changed_text(const Arm& arm) {
  std::string text = "live with";
  for (const auto& [path, value] : arm.overrides) {
    text += " ";
    text += path;
    text += " = ";
    text += value;
  }
  return arm.overrides.empty() ? "live" : text;
}

}  // namespace

std::string arm_text(const Arm& arm, const Report& report) {
  switch (arm.kind) {
    case ArmKind::bypass:
      return "live, but " + stage_name(report, arm.stage) + " is free";
    case ArmKind::shadow:
      return "loading alongside the step alone";
    case ArmKind::live:
      return changed_text(arm);
    case ArmKind::null:
      return "repeated, to see the noise";
    case ArmKind::unseen:
      return replay_text(arm, report) + ", from samples that no stage after it has had";
    case ArmKind::replay:
      break;
  }
  return replay_text(arm, report);
}

}  // namespace cachebisect
