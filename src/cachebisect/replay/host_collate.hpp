// Collate outside the executor: makes a host batch of cached samples, as a worker would.
#pragma once

#include <span>

#include "cachebisect/data/batch.hpp"
#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect {

/// Collates `samples` (dense, at collate's input) into `out`.
void collate_samples(const Pipeline& pipeline, std::span<const Sample> samples,
                     OwnedHostBatch& out);

/// Own dense copy of `from`.
void copy_host_batch(const HostBatch& from, OwnedHostBatch& to);

}  // namespace cachebisect
