#include "cachebisect/remote/job_nodes.hpp"

#include <algorithm>
#include <cstddef>
#include <set>

namespace cachebisect {

std::vector<NodeDescription> nodes_of(const NodesByRank& by_rank, const std::string& own_node) {
  std::vector<NodeDescription> nodes;
  for (std::size_t r = 0; r < by_rank.size(); ++r) {
    if (r == 0 || by_rank[r] != by_rank[r - 1]) {
      nodes.push_back({by_rank[r] ? by_rank[r]->name() : own_node, {static_cast<int>(r), 0}});
    }
    ++nodes.back().ranks.count;
  }
  const std::set<std::shared_ptr<NodeConnection>> machines(by_rank.begin(), by_rank.end());
  const bool in_turn = nodes.size() > 1 && nodes.size() == machines.size();
  return in_turn ? nodes : std::vector<NodeDescription>{};
}

std::vector<int> ranks_beside(const NodesByRank& by_rank) {
  std::vector<int> counts;
  counts.reserve(by_rank.size());
  for (const auto& node : by_rank) {
    counts.push_back(static_cast<int>(std::ranges::count(by_rank, node)));
  }
  return counts;
}

std::string name_of_ranks(const std::vector<std::size_t>& ranks) {
  const std::size_t first = ranks.front();
  const std::size_t last = ranks.back();
  if (first == last) return "rank " + std::to_string(first);
  if (last - first + 1 == ranks.size()) {
    return "ranks " + std::to_string(first) + " to " + std::to_string(last);
  }
  std::string names = "ranks";
  for (const std::size_t rank : ranks) {
    names += (rank == first ? " " : ", ") + std::to_string(rank);
  }
  return names;
}

}  // namespace cachebisect
