// The parameter dtype of the stages that cast, and what they accept.
#pragma once

#include "cachebisect/data/field.hpp"
#include "cachebisect/pipeline/params.hpp"

namespace cachebisect::stages {

/// "float16", "bfloat16" or "float32"; required.
ParamSpec float_dtype_param();
DType float_dtype_of(const Params& params);
/// Throws Error(usage) unless `field` is of a dtype that can be cast.
void require_castable(const FieldSpec& field);

}  // namespace cachebisect::stages
