// Which arms a round runs: each boundary of the plan once, and in about one block of ten a boundary
// for the second time, which shows what the machine alone does.
#pragma once

#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect {

/// Null blocks per block of the plan.
inline constexpr double kNullShare = 0.1;

/// Not thread safe.
class CACHEBISECT_INTERNAL_API RoundArms {
 public:
  /// Keeps a reference: null arms are used only if the replayer supports them.
  explicit RoundArms(const Replayer& replayer) : replayer_(&replayer) {}

  /// The arms of the next round, in no particular order; `boundaries` must not be empty.
  /// `live_twice`: the null arm is live, and due in every round.
  [[nodiscard]] std::vector<Arm> draw(const std::vector<int>& boundaries, bool live_twice,
                                      RandomStream& random);

 private:
  const Replayer* replayer_;
  double null_debt_ = 0;  ///< null blocks that are due
};

}  // namespace cachebisect
