// What serving from the caches costs per sample at each boundary (rho_k).
#pragma once

#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/record/round_table.hpp"
#include "cachebisect/protocol/cache_facts.hpp"
#include "cachebisect/protocol/chain_description.hpp"

namespace cachebisect {

/// Worker seconds per sample, by boundary 0..n: the cache lookup, as timed when the caches were
/// filled, and before collate also the copy into the batch slot, which a live stage writes without
/// a copy. `rounds`: a table of boundaries. Empty if no lookup was timed.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<double> serving_cost(
    const ChainDescription& chain, const CacheFacts& facts, const RoundTable& rounds);

}  // namespace cachebisect
