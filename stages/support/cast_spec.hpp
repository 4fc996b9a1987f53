// The parameter dtype of the stages that cast, and what they accept.
#pragma once

#include <initializer_list>
#include <string>

#include "cachebisect/data/field.hpp"
#include "cachebisect/pipeline/params.hpp"

namespace cachebisect::stages {

/// `dtype`, one of `choices`; required.
ParamSpec dtype_param(std::initializer_list<DType> choices);
/// dtype_param() for "float16", "bfloat16" or "float32".
ParamSpec float_dtype_param();
DType dtype_of(const Params& params);
/// Throws Error(usage) unless `field` is of a dtype that can be cast.
void require_castable(const FieldSpec& field);

}  // namespace cachebisect::stages
