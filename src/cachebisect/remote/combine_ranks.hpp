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

/// The block of some ranks, with what it takes to join it to those of others.
struct BlockPart {
  /// As long as that of the slowest rank, and void if one is, or if the ranks differ in steps.
  /// Counters are those of the rank that waited longest for its data, CPU time the mean. Ranks
  /// without loaders count for the length alone. `slowest_rank` is empty.
  BlockResult block;
  int loaders = 0;             ///< ranks with loaders
  int slowest = 0;             ///< the one of them that waited longest
  double slowest_seconds = 0;  ///< its own block
  /// How long the rank waited that waited longest but for this one; empty for less than two.
  std::optional<double> next_starved_seconds{};
};
[[nodiscard]] CACHEBISECT_INTERNAL_API BlockPart part_of_rank(BlockResult block, int rank,
                                                              bool has_loader);
/// At least one. Parts of parts join to the same as their ranks at once, but for the last digits of
/// the mean CPU time.
[[nodiscard]] CACHEBISECT_INTERNAL_API BlockPart join_parts(const std::vector<BlockPart>& parts);
/// The same as the block of the whole job, with its slowest rank.
[[nodiscard]] CACHEBISECT_INTERNAL_API BlockResult whole_block(const std::vector<BlockPart>& parts);
/// The same from the blocks by rank. `without_loader`: ranks whose blocks have no samples.
[[nodiscard]] CACHEBISECT_INTERNAL_API BlockResult combine_blocks(
    const std::vector<BlockResult>& blocks, const std::set<std::size_t>& without_loader = {});

/// The smallest K, the sum of the bytes.
[[nodiscard]] CACHEBISECT_INTERNAL_API CacheFacts
combine_caches(const std::vector<CacheFacts>& caches);

/// Sums over the ranks that could tell; empty if none could.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<StorageCounts> combine_storage(
    const std::vector<std::optional<StorageCounts>>& ranks);

/// What ranks run for `arm`, those that it frees and the others: an arm of some ranks is live on
/// all others.
[[nodiscard]] Arm arm_of_part(const Arm& arm, bool freed);
/// The same for one rank.
[[nodiscard]] CACHEBISECT_INTERNAL_API Arm arm_on_rank(const Arm& arm, int rank);

}  // namespace cachebisect
