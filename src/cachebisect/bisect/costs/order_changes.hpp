// What it changes in the costs that a stage which leaves less of a sample runs earlier.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/costs/cost_model.hpp"
#include "cachebisect/protocol/chain_description.hpp"

namespace cachebisect {

/// Stages count from 0.
struct StageMove {
  std::size_t stage = 0;
  std::size_t before = 0;  ///< it runs before this one, which is earlier in the chain
};

/// The cost of a stage is taken to be in proportion to the pixels.
struct OrderChanges {
  CostChanges likely;
  CostChanges least;  ///< half as much is spared
};

/// `spared`: the stages that get less then. `left`: the share that they get, from 0 to 1. The stage
/// that moves costs what it does now.
[[nodiscard]] CACHEBISECT_INTERNAL_API OrderChanges
spared_by_order(const std::vector<std::size_t>& spared, double left);

/// All stages that a move passes.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<std::size_t> passed_by(const StageMove& move);

/// What a job in code calls a move: "transforms[3] before transforms[1]", by the first words of the
/// names of its stages. Empty if it has no such stages.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<StageMove> stage_move(
    const ChainDescription& chain, std::string_view text);

/// Bytes of a sample behind a stage over those before it; empty if they are not known.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<double> bytes_left_by(
    const ChainDescription& chain, std::size_t stage);

}  // namespace cachebisect
