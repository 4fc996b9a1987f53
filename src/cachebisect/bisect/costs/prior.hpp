// What the law expects of each boundary, from one live block: which boundary to visit first, never
// the proof.
#pragma once

#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/protocol/block.hpp"
#include "cachebisect/protocol/chain_description.hpp"

namespace cachebisect {

/// Seconds per sample replayed at each boundary 0..n; empty if the block was not observed.
/// `ceiling`: seconds per sample replayed at n.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<double> expected_seconds(
    const ChainDescription& chain, const BlockResult& live, double ceiling);

}  // namespace cachebisect
