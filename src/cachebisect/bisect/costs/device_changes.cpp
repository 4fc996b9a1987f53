#include "cachebisect/bisect/costs/device_changes.hpp"

#include <algorithm>
#include <array>

#include "cachebisect/bisect/costs/sample_stages.hpp"

namespace cachebisect {
namespace {

/// Its cost grows with the bytes of a batch.
bool carries_batches(const StageDescription& stage) {
  constexpr std::array kCarriers{Category::collate, Category::transfer, Category::pin,
                                 Category::copy};
  return std::ranges::find(kCarriers, stage.category) != kCarriers.end();
}

/// Bytes of a sample before the stages from `first` on over those after them, at most 1.
double bytes_left(const ChainDescription& chain, std::size_t first, std::size_t last) {
  if (chain.stages[first].makes_floats) return kBytesOfFloat;
  const auto& before = first > 0 ? chain.stages[first - 1].output_bytes : std::nullopt;
  const auto& after = chain.stages[last].output_bytes;
  return before && after && *after > 0 ? std::min(1.0, *before / *after) : 1;
}

}  // namespace

DeviceChanges on_device_from(const ChainDescription& chain, std::size_t first) {
  DeviceChanges changes;
  const std::size_t end = count_sample_stages(chain);
  for (std::size_t s = first; s < end; ++s) {
    changes.least.stages.push_back({.stage = s, .factor = 0});
  }
  changes.likely = changes.least;
  const double left = bytes_left(chain, first, end - 1);
  for (std::size_t s = end; s < chain.stages.size(); ++s) {
    if (carries_batches(chain.stages[s])) {
      changes.likely.stages.push_back({.stage = s, .factor = left});
    }
  }
  return changes;
}

}  // namespace cachebisect
