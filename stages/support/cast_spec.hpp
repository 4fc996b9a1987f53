// The parameter dtype of the stages that cast.
#pragma once

#include <string>

#include "cachebisect/data/dtype.hpp"
#include "cachebisect/pipeline/params.hpp"

namespace cachebisect::stages {

/// "float16", "bfloat16" or "float32"; required.
ParamSpec float_dtype_param();
DType float_dtype_of(const Params& params);

}  // namespace cachebisect::stages
