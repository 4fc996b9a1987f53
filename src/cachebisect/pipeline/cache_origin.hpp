// What a cache stage is told of the stages before it.
#pragma once

#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect {

/// For the cache at `position` of the chain. `spec`: of the same stages, or without any, as for
/// pipelines that a program builds: their parameters are then not known.
[[nodiscard]] CACHEBISECT_INTERNAL_API CacheOrigin
cache_origin(const PipelineSpec& spec, const std::vector<ChainStage>& stages, std::size_t position);

}  // namespace cachebisect
