// What the law expects of each boundary, from the inline counters of one live block: where to look
// first, never the proof.
#pragma once

#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect {

/// Seconds a sample replayed at each boundary 0..n; empty where the block was not observed.
/// `ceiling`: seconds a sample replayed at n.
[[nodiscard]] CACHEBISECT_API std::vector<double> expected_seconds(const ChainDescription& chain,
                                                                   const BlockResult& live,
                                                                   double ceiling);

}  // namespace cachebisect
