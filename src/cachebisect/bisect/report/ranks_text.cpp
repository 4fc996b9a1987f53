#include "cachebisect/bisect/report/ranks_text.hpp"

#include <algorithm>

namespace cachebisect {

std::string ranks_text(const RankRange& ranks) {
  if (ranks.is_all()) return "all ranks";
  if (ranks.is_single()) return "rank " + std::to_string(ranks.first);
  return "ranks " + std::to_string(ranks.first) + " to " + std::to_string(ranks.end() - 1);
}

const NodeDescription* node_of(const ChainDescription& chain, const RankRange& ranks) {
  const auto found = std::ranges::find_if(chain.nodes, [&](const NodeDescription& node) {
    return !ranks.is_all() && node.ranks.holds(ranks.first) && ranks.end() <= node.ranks.end();
  });
  return found == chain.nodes.end() ? nullptr : &*found;
}

std::string place_text(const ChainDescription& chain, const RankRange& ranks) {
  const NodeDescription* const node = node_of(chain, ranks);
  if (node == nullptr) return ranks_text(ranks);
  if (ranks == node->ranks && !ranks.is_single()) return "node " + node->name;
  return "node " + node->name + ", " + ranks_text(ranks);
}

}  // namespace cachebisect
