// What ranks of a distributed job are called.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/protocol/chain_description.hpp"

namespace cachebisect {

/// "rank 26", "ranks 0 to 31".
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string ranks_text(const RankRange& ranks);

/// The only machine that these ranks run on, of a job of several; empty if there is none.
[[nodiscard]] CACHEBISECT_INTERNAL_API const NodeDescription* node_of(const ChainDescription& chain,
                                                                      const RankRange& ranks);

/// "node gpu-03, rank 26", "node gpu-03" for all of its ranks; without the node if the job has one.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string place_text(const ChainDescription& chain,
                                                              const RankRange& ranks);

}  // namespace cachebisect
