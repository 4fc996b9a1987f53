#include "cachebisect/bisect/costs/remedy_forecast.hpp"

#include <algorithm>
#include <charconv>

#include "cachebisect/bisect/costs/forecast.hpp"

namespace cachebisect {
namespace {

std::optional<int> integer(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::size_t> stage_named(const Report& report, const std::string& name) {
  for (std::size_t s = 0; s < report.stages.size(); ++s) {
    if (report.stages[s].name == name) return s;
  }
  return std::nullopt;
}

/// Adds `factor` on what the copy takes.
void scale_copy(const Report& report, double factor, LawChanges& changes) {
  for (std::size_t s = 0; s < report.stages.size(); ++s) {
    if (report.stages[s].category == Category::copy) changes.stages.push_back({s, factor});
  }
}

/// Bytes of a sample before a stage over those after it, at most 1; 1 where they are not known.
double bytes_saved_by_moving(const Report& report, std::size_t stage) {
  if (stage == 0) return 1;
  const auto& before = report.stages[stage - 1].output_bytes;
  const auto& after = report.stages[stage].output_bytes;
  return before && after && *after > 0 ? std::min(1.0, *before / *after) : 1;
}

LawChanges moved_to_device(const Report& report, std::size_t stage) {
  LawChanges changes;
  changes.stages.push_back({stage, 0});
  scale_copy(report, bytes_saved_by_moving(report, stage), changes);
  return changes;
}

}  // namespace

std::optional<LawChanges> changes_of(const Remedy& remedy, const Report& report) {
  LawChanges changes;
  const auto stage = stage_named(report, remedy.stage);
  if (remedy.id == "workers") {
    changes.workers = remedy.edits.empty() ? std::nullopt : integer(remedy.edits.front().value);
    return changes.workers ? std::optional(changes) : std::nullopt;
  }
  if (remedy.id == "overlap_copy") {
    changes.copy_overlaps = true;
    return changes;
  }
  if (!stage) return std::nullopt;
  if (remedy.id == "to_device" || remedy.id == "ship_bytes") return moved_to_device(report, *stage);
  if (remedy.id == "prepare" || remedy.id == "lock") {
    changes.stages.push_back({*stage, 0});
    return changes;
  }
  if (remedy.id == "half" && report.stages[*stage].category == Category::copy) {
    scale_copy(report, 0.5, changes);
    return changes;
  }
  if (remedy.id == "bucket" && report.stages[*stage].padding_share) {
    scale_copy(report, 1 - *report.stages[*stage].padding_share, changes);
    return changes;
  }
  return std::nullopt;
}

void predict_remedies(Report& report) {
  if (report.remedies.empty()) return;
  const auto forecast = Forecast::of(report);
  if (!forecast) return;
  for (Remedy& remedy : report.remedies) {
    const auto changes = changes_of(remedy, report);
    if (changes) remedy.predicted = *forecast->after(*changes).value - *report.live.value;
  }
}

}  // namespace cachebisect
