// Which ranks of a distributed job hold the others up. After an all-reduce all ranks have taken the
// same time; giving some of them their batches for free tells whether the others waited for them.
// Nodes are tried before the ranks of one, so that the number of ranks is no limit.
#pragma once

#include <optional>
#include <vector>

#include "cachebisect/base/estimate.hpp"
#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/record/round_table.hpp"
#include "cachebisect/protocol/arm.hpp"
#include "cachebisect/protocol/chain_description.hpp"

namespace cachebisect {

/// The whole job with some ranks alone at their ceiling and the others live.
struct RankPayoff {
  RankRange ranks;
  Estimate samples_per_second;  ///< of each rank
};

/// What `whole` is split into, at most 16 parts: nodes or groups of nodes, or, of one node, its
/// ranks or groups of them; none for a single rank. The ranks of the job are RankRange{}.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<RankRange> parts_of_ranks(
    const ChainDescription& chain, const RankRange& whole);

/// One arm for each part.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<Arm> rank_arms(const ChainDescription& chain,
                                                                  const RankRange& whole);

/// The fewest ranks that alone, at their ceiling, certainly gain something and win back more than
/// half of the time lost per step, unless more of them certainly win back more. Empty if there are
/// none, or nothing was measured. `rounds` has live in column 0 and the ceiling in column 1.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<RankRange> slow_ranks(const RoundTable& rounds,
                                                                           double alpha);

}  // namespace cachebisect
