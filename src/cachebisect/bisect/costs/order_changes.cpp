#include "cachebisect/bisect/costs/order_changes.hpp"

#include <numeric>

#include "cachebisect/bisect/costs/sample_stages.hpp"

namespace cachebisect {
namespace {

constexpr std::string_view kBefore = " before ";

}  // namespace

OrderChanges spared_by_order(const std::vector<std::size_t>& spared, double left) {
  OrderChanges changes;
  for (const std::size_t stage : spared) {
    changes.likely.stages.push_back({.stage = stage, .factor = left});
    changes.least.stages.push_back({.stage = stage, .factor = (1 + left) / 2});
  }
  return changes;
}

std::vector<std::size_t> passed_by(const StageMove& move) {
  std::vector<std::size_t> stages(move.stage - move.before);
  std::iota(stages.begin(), stages.end(), move.before);
  return stages;
}

std::optional<StageMove> stage_move(const ChainDescription& chain, std::string_view text) {
  const std::size_t at = text.find(kBefore);
  if (at == std::string_view::npos) return std::nullopt;
  const auto stage = sample_stage(chain, text.substr(0, at));
  const auto before = sample_stage(chain, text.substr(at + kBefore.size()));
  if (!stage || !before || *before >= *stage) return std::nullopt;
  return StageMove{.stage = *stage, .before = *before};
}

std::optional<double> bytes_left_by(const ChainDescription& chain, std::size_t stage) {
  const auto& before = stage > 0 ? chain.stages[stage - 1].output_bytes : std::nullopt;
  const auto& after = chain.stages[stage].output_bytes;
  if (!before || !after || !(*before > 0)) return std::nullopt;
  return *after / *before;
}

}  // namespace cachebisect
