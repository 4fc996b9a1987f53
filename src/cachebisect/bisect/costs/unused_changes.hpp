// What leaving out of a batch what no step reads changes in the costs.
#pragma once

#include <optional>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/costs/order_changes.hpp"
#include "cachebisect/protocol/chain_description.hpp"

namespace cachebisect {

/// The share of the bytes of a batch that no step reads; empty if that is not known, or nothing.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<double> unused_share(
    const ChainDescription& chain);

/// True for a stage that costs by the byte of a batch.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool moves_bytes(Category category) noexcept;

/// Without them: what moves the bytes of a batch moves fewer. What makes them stays. Empty as
/// unused_share() is.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<OrderChanges> without_unused(
    const ChainDescription& chain);

/// What it changes if a batch has this share of its bytes less.
[[nodiscard]] CACHEBISECT_INTERNAL_API OrderChanges without_bytes(const ChainDescription& chain,
                                                                  double share);

}  // namespace cachebisect
