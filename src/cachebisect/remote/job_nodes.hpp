// The machines of a job by its ranks.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "cachebisect/protocol/chain_description.hpp"
#include "cachebisect/remote/node_connection.hpp"

namespace cachebisect {

/// Empty: the engine's machine.
using NodesByRank = std::vector<std::shared_ptr<NodeConnection>>;

/// The machines by their ranks; empty if there is one, or if the ranks of one do not follow each
/// other. `own_node`: name of the engine's machine.
[[nodiscard]] std::vector<NodeDescription> nodes_of(const NodesByRank& by_rank,
                                                    const std::string& own_node);
/// Ranks on the machine of each rank.
[[nodiscard]] std::vector<int> ranks_beside(const NodesByRank& by_rank);
/// "rank 3", "ranks 8 to 15" or "ranks 1, 3, 5". `ranks`: in order, at least one.
[[nodiscard]] std::string name_of_ranks(const std::vector<std::size_t>& ranks);

}  // namespace cachebisect
