// What the ranks of a distributed job answer, as the answer of one.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect {

/// The chain of the first rank that has one, with the number of ranks and a rank's share of the
/// CPUs of its machine, where that is least. `chains`: by rank; one without stages is that of a
/// rank without a loader. `ranks_beside`: ranks on the machine of each rank, itself included.
/// `machine_cpus` is used if the chains do not tell. Throws Error(usage) naming the rank whose
/// chain differs from that of the first.
[[nodiscard]] CACHEBISECT_INTERNAL_API ChainDescription
combine_chains(const std::vector<ChainDescription>& chains, double machine_cpus,
               const std::vector<int>& ranks_beside);

/// A block is as long as that of the slowest rank, and void if one is. Counters are those of the
/// rank that waited longest for its data, CPU time the mean. Void also if the ranks differ in
/// steps. `without_loader`: ranks whose blocks have no samples; they count for the length alone.
[[nodiscard]] CACHEBISECT_INTERNAL_API BlockResult combine_blocks(
    const std::vector<BlockResult>& blocks, const std::set<std::size_t>& without_loader = {});

/// The smallest K, the sum of the bytes.
[[nodiscard]] CACHEBISECT_INTERNAL_API CacheFacts
combine_caches(const std::vector<CacheFacts>& caches);

/// Sums over the ranks that could tell; empty if none could.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<StorageCounts> combine_storage(
    const std::vector<std::optional<StorageCounts>>& ranks);

/// What rank `rank` runs for `arm`: an arm of some ranks is live on all others.
[[nodiscard]] CACHEBISECT_INTERNAL_API Arm arm_on_rank(const Arm& arm, int rank);

}  // namespace cachebisect
