#include "cachebisect/bisect/costs/sample_stages.hpp"

#include <algorithm>

namespace cachebisect {

std::size_t count_sample_stages(const ChainDescription& chain) {
  const auto end = std::ranges::find_if(chain.stages, [](const StageDescription& stage) {
    return stage.kind != StageKind::source && stage.kind != StageKind::sample;
  });
  return static_cast<std::size_t>(end - chain.stages.begin());
}

std::optional<std::size_t> sample_stage(const ChainDescription& chain, std::string_view word) {
  for (std::size_t s = 0; s < count_sample_stages(chain); ++s) {
    if (first_word(chain.stages[s].name) == word) return s;
  }
  return std::nullopt;
}

}  // namespace cachebisect
