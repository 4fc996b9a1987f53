// Fills the cache stages of a chain, so that what is measured is an epoch after the first.
#pragma once

#include "cachebisect/base/export.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/pipeline/open_context.hpp"
#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect {

/// Takes the samples of one epoch to the last cache stage, until all caches are full; does nothing
/// if that was done for these stages. Throws what the stages throw, and Error(interrupted).
CACHEBISECT_INTERNAL_API void fill_cache_stages(const Pipeline& pipeline, Device& device,
                                                const OpenContext& opening);

}  // namespace cachebisect
