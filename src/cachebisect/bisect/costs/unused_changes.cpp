#include "cachebisect/bisect/costs/unused_changes.hpp"

#include <cstddef>
#include <vector>

namespace cachebisect {

std::optional<double> unused_share(const ChainDescription& chain) {
  const auto& batch = chain.batch_contents;
  if (!batch || !(batch->unused_bytes > 0) || !(batch->bytes > batch->unused_bytes)) return {};
  return batch->unused_bytes / batch->bytes;
}

bool moves_bytes(Category category) noexcept {
  return category == Category::collate || category == Category::transfer ||
         category == Category::pin || category == Category::copy;
}

std::optional<OrderChanges> without_unused(const ChainDescription& chain) {
  const auto share = unused_share(chain);
  return share ? std::optional(without_bytes(chain, *share)) : std::nullopt;
}

OrderChanges without_bytes(const ChainDescription& chain, double share) {
  std::vector<std::size_t> places;
  for (std::size_t s = 0; s < chain.stages.size(); ++s) {
    if (moves_bytes(chain.stages[s].category)) places.push_back(s);
  }
  return spared_by_order(places, 1 - share);
}

}  // namespace cachebisect
