#include "cachebisect/bisect/evidence/serving_cost.hpp"

namespace cachebisect {
namespace {

/// The boundary before collate; 0 if there is none.
int before_collate(const ChainDescription& chain) {
  int boundary = 0;
  for (std::size_t s = 0; s < chain.stages.size(); ++s) {
    if (chain.stages[s].category == Category::collate) boundary = static_cast<int>(s);
  }
  return boundary;
}

}  // namespace

std::vector<double> serving_cost(const ChainDescription& chain, const CacheFacts& facts,
                                 const RoundTable& rounds) {
  std::vector<double> seconds = facts.serve_seconds_per_sample;
  const int boundary = before_collate(chain);
  if (boundary == 0 || static_cast<std::size_t>(boundary) >= seconds.size()) return seconds;
  double write_seconds = 0;
  double writes = 0;
  for (const StageCounters& stage : rounds.totals(boundary).stages) {
    write_seconds += stage.slot_write_seconds;
    writes += static_cast<double>(stage.slot_writes);
  }
  if (writes > 0) seconds[static_cast<std::size_t>(boundary)] += write_seconds / writes;
  return seconds;
}

}  // namespace cachebisect
