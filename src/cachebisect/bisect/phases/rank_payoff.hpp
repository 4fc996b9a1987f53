// Which rank of a distributed job holds the others up. After an all-reduce all ranks have taken the
// same time; giving one of them its batches for free tells whether the others waited for it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/estimate.hpp"
#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/record/round_table.hpp"
#include "cachebisect/protocol/arm.hpp"

namespace cachebisect {

/// The whole job with one rank alone at its ceiling and the others live.
struct RankPayoff {
  int rank = 0;
  Estimate samples_per_second;  ///< of each rank
};

/// One arm per rank, at most 16; none for a job of one process.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<Arm> rank_arms(int ranks, int stages);

/// The rank that alone, at its ceiling, certainly gains something and wins back more than half of
/// the loss. Empty if there is none, or nothing was measured. `rounds` has live in column 0 and the
/// ceiling in column 1.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<int> slow_rank(const RoundTable& rounds,
                                                                    double alpha);

}  // namespace cachebisect
