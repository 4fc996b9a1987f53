// Parameters that all caches of samples have.
#pragma once

#include "stages/support/sample_store.hpp"

#include "cachebisect/pipeline/params.hpp"

namespace cachebisect::stages {

[[nodiscard]] ParamSpec eviction_param();
/// The value of the parameter that eviction_param() declares.
[[nodiscard]] Eviction eviction_of(const Params& params);

[[nodiscard]] ParamSpec frozen_param();

}  // namespace cachebisect::stages
