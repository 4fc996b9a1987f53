// Settings of a simulated chain, by those paths of `--set` that apply to it.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/simulate/simulated_chain.hpp"

namespace cachebisect {

/// The chain with `overrides` (path -> JSON value) applied; none if a path or value does not apply
/// to a simulated chain. Paths: workers, batch_size, prefetch, loader, stages.NAME.us,
/// stages.NAME.bytes (NAME or 0-based number), stages.copy.prefetch, stages.copy.non_blocking,
/// emulate.step_ms, emulate.copy_gb_per_s, emulate.copy_latency_us.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<SimulatedChain> with_overrides(
    SimulatedChain chain, const std::map<std::string, std::string>& overrides);

}  // namespace cachebisect
