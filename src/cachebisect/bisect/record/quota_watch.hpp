// The CPU quota of the machine, from block to block: whether it may run out, and what blocks take
// then.
#pragma once

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/machine_reading.hpp"
#include "cachebisect/protocol/block.hpp"

namespace cachebisect {

/// Not thread safe.
class CACHEBISECT_INTERNAL_API QuotaWatch {
 public:
  /// True if the machine has a quota; without one, no further readings are needed.
  [[nodiscard]] bool has_quota() const noexcept { return last_.quota_period_seconds.has_value(); }
  /// Takes a reading after anything but a block.
  void skip(const MachineReading& now) { last_ = now; }
  /// Takes the reading after a block. True if the quota ran out in it although the block itself
  /// stays below the quota: something else used it up.
  bool disturbed(const BlockResult& block, const MachineReading& now);
  /// Lets a block be timed in many groups, once there is a period to follow.
  void prepare(BlockRequest& request) const;
  /// Times such a block by the whole periods that it covers: a quota allows equally much in them
  /// wherever they begin. The step during which the last one ends counts in part. Unchanged if it
  /// is shorter than a period. `in_groups`: its groups are then periods; otherwise it has none.
  void settle(BlockResult& block, bool in_groups) const;
  /// The period, in seconds, of a quota that has run out in a block, or that a block comes near; 0
  /// until then.
  [[nodiscard]] double period_seconds() const noexcept { return period_seconds_; }

 private:
  MachineReading last_;
  double period_seconds_ = 0;
};

}  // namespace cachebisect
