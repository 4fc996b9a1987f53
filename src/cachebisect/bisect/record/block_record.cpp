#include "cachebisect/bisect/record/block_record.hpp"

#include <algorithm>

namespace cachebisect {

const char* to_string(BlockPhase phase) noexcept {
  switch (phase) {
    case BlockPhase::caches:
      return "caches";
    case BlockPhase::pilot:
      return "pilot";
    case BlockPhase::measure:
      return "measure";
    case BlockPhase::sustain:
      return "sustain";
    case BlockPhase::explain:
      return "explain";
    case BlockPhase::check_cache:
      return "check_cache";
    case BlockPhase::verify:
      return "verify";
  }
  return "unknown";
}

bool BlockRecord::is_evidence() const noexcept {
  return round >= 0 && !result.is_void && result.samples > 0 && result.seconds > 0;
}

bool BlockRecord::shows_replay() const noexcept {
  return is_evidence() && arm.kind == ArmKind::replay && arm.observed && arm.cache_samples == 0 &&
         arm.ranks.is_all();
}

bool BlockRecord::shows_replay_at(int boundary) const noexcept {
  return shows_replay() && arm.boundary == boundary;
}

std::optional<double> LiveWaiting::share() const noexcept {
  if (seconds <= 0) return std::nullopt;
  return std::min(1.0, starved_seconds / seconds);
}

LiveWaiting waiting_of_live(const std::vector<BlockRecord>& records) {
  LiveWaiting waiting;
  for (const BlockRecord& record : records) {
    if (!record.shows_live()) continue;
    waiting.seconds += record.result.seconds;
    waiting.starved_seconds += record.result.starved_seconds;
  }
  return waiting;
}

std::optional<double> ready_batches_of_live(const std::vector<BlockRecord>& records) {
  double steps = 0;
  double ready = 0;
  for (const BlockRecord& record : records) {
    if (!record.shows_live() || !record.result.ready_batches) continue;
    steps += record.result.steps;
    ready += *record.result.ready_batches * record.result.steps;
  }
  if (steps <= 0) return std::nullopt;
  return ready / steps;
}

}  // namespace cachebisect
