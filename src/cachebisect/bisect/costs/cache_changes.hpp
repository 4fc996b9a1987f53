// What a cache behind a stage changes in the costs: the stages before it run for no sample that it
// holds.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/costs/cost_model.hpp"
#include "cachebisect/protocol/chain_description.hpp"

namespace cachebisect {

/// Index of the stage that reads: what a DataLoader draws samples by comes before it.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::size_t reading_stage(const ChainDescription& chain);

/// The number (from 1) of the stage that a job in code means by `name`, the first word of a stage's
/// name, or "sample" for all that make samples. Empty if there is none.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<std::size_t> cached_stage(
    const ChainDescription& chain, std::string_view name);

/// What a sample from a cache costs a process of a job in code: as measured, else what is assumed.
[[nodiscard]] CACHEBISECT_INTERNAL_API CacheHit shared_hit(const ChainDescription& chain);
/// What it costs for a sample of so many bytes.
[[nodiscard]] CACHEBISECT_INTERNAL_API double served_seconds(const CacheHit& hit,
                                                             double bytes_per_sample);

/// A cache behind the stage of number `after`, which holds the share `kept` of the samples. In code
/// it is shared by processes, and fetching a sample costs time.
[[nodiscard]] CACHEBISECT_INTERNAL_API CostChanges cached_after(const ChainDescription& chain,
                                                                std::size_t after, double kept,
                                                                double bytes_per_sample);

}  // namespace cachebisect
