// What each stage's own work takes in one block, without the waiting that the rest of the loop
// causes, so that it can be compared between arms.
#pragma once

#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/protocol/block.hpp"
#include "cachebisect/protocol/chain_description.hpp"

namespace cachebisect {

/// Seconds per sample of the thread that runs the stage; 0 for stages that did not run.
struct OwnSeconds {
  double cpu = 0;
  double all = 0;   ///< with sleeping and I/O
  double busy = 0;  ///< with waiting for crowded cores too
};

/// True if most of the machine's `cores` are busy, so that threads wait for them.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool is_crowded(const BlockResult& block,
                                                       double cores) noexcept;

/// One entry per stage of the chain; stages on the device stay 0. If is_crowded(),
/// only CPU time is a stage's own. Inside a serial section only the time after its entry counts.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<OwnSeconds> own_seconds(
    const BlockResult& block, const ChainDescription& chain, double cores);

}  // namespace cachebisect
