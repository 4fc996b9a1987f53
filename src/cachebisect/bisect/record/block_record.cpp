#include "cachebisect/bisect/record/block_record.hpp"

namespace cachebisect {

bool BlockRecord::is_evidence() const noexcept {
  return round >= 0 && !result.is_void && result.samples > 0 && result.seconds > 0;
}

bool BlockRecord::shows_replay() const noexcept {
  return is_evidence() && arm.kind == ArmKind::replay && arm.observed && arm.cache_samples == 0 &&
         arm.rank == kAllRanks;
}

bool BlockRecord::shows_replay_at(int boundary) const noexcept {
  return shows_replay() && arm.boundary == boundary;
}

}  // namespace cachebisect
