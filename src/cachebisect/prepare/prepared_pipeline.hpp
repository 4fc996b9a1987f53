// The pipeline that reads a prepared data set.
#pragma once

#include <cstddef>
#include <string>

#include "cachebisect/pipeline/pipeline_spec.hpp"

namespace cachebisect::prepare {

/// The pipeline whose first stages are replaced by read.shards, as the text of a file in the folder
/// of the data set.
[[nodiscard]] std::string prepared_pipeline(const PipelineSpec& spec, std::size_t stages);

/// The pipeline without its cache stages: opened by `prepare`, they would keep samples of another
/// source than the prepared pipeline has.
[[nodiscard]] CACHEBISECT_INTERNAL_API PipelineSpec without_caches(PipelineSpec spec,
                                                                   const Registry& registry);

}  // namespace cachebisect::prepare
