// Finds the stage that writes its input, once a cache is seen to have changed.
#pragma once

#include <cstddef>
#include <string>

#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/replay/cache/boundary_cache.hpp"

namespace cachebisect {

/// Throws Error(data) that names who changed the cached output of `boundary` when it is not what
/// was put in: the stage, where running the sample stages one by one on copies shows it, else those
/// that can have done it. `step` is the training step's name.
void check_untouched(const Pipeline& pipeline, const BoundaryCache& cache, std::size_t boundary,
                     const std::string& step);

}  // namespace cachebisect
