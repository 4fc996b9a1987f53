// A spec as a JSON value. Internal to pipeline/file.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "cachebisect/pipeline/pipeline_spec.hpp"

namespace cachebisect::spec {

/// The whole spec. Paths keep their bytes, also those that are not UTF-8, which JSON text cannot
/// hold.
nlohmann::ordered_json json_of(const PipelineSpec& spec);

}  // namespace cachebisect::spec
