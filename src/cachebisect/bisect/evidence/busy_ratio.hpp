// How long each stage is busy with a sample when it is replayed, relative to live.
#pragma once

#include <span>
#include <vector>

#include "cachebisect/base/estimate.hpp"
#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/evidence/own_seconds.hpp"
#include "cachebisect/bisect/record/block_record.hpp"

namespace cachebisect {

/// Seconds of own work per sample, replayed over live, of each stage of the chain: means over the
/// rounds that ran both, with the interval of a ConfidenceSequence of their ratios. Of the
/// boundaries before a stage the one that most rounds compared, the nearest if several are equal.
/// Empty for stages that no replay ran, without probes, and for too few rounds for an interval.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<Estimate> replayed_busy_ratios(
    std::span<const BlockRecord> blocks, const ChainDescription& chain, double confidence,
    double cores);

}  // namespace cachebisect
