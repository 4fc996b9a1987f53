// What batches of samples of similar size would need, by the samples in a cache.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "cachebisect/base/export.hpp"
#include "cachebisect/data/sample.hpp"
#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect {

/// Bytes of padded batches if samples as these were sorted by their bytes in storage,
/// settings::kProposedGroup batches at a time, over those of the batches in the order given. Empty
/// if the pipeline does not pad, groups already, keeps its order, or if the source knows no sizes;
/// and of fewer than two batches. `samples`: that collate gets.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<double> grouped_bytes_share(
    const Pipeline& pipeline, std::span<const Sample> samples);

}  // namespace cachebisect
