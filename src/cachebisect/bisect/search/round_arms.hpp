// Which arms a round runs, and in which order: each boundary of the plan once, and in about one
// block of ten a boundary for the second time, which shows what the machine alone does.
#pragma once

#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect {

/// Not thread safe.
class CACHEBISECT_API RoundArms {
 public:
  /// Keeps a reference: null arms are drawn where the replayer has them.
  explicit RoundArms(const Replayer& replayer) : replayer_(&replayer) {}

  /// The next round's arms in a random order; `boundaries` must not be empty. `live_twice`: the
  /// null arm is live, and due in any case.
  [[nodiscard]] std::vector<Arm> draw(const std::vector<int>& boundaries, bool live_twice,
                                      RandomStream& random);

 private:
  const Replayer* replayer_;
  double null_debt_ = 0;  ///< null blocks that are due
};

}  // namespace cachebisect
