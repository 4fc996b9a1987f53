// The parameter shape of the device stages that give a field its shape back.
#pragma once

#include "cachebisect/data/shape.hpp"
#include "cachebisect/pipeline/params.hpp"

namespace cachebisect::stages {

/// `shape`, of a field of one sample; required.
ParamSpec sample_shape_param();
/// Throws Error(usage) unless all dimensions are whole numbers, of not too many values.
Shape sample_shape_of(const Params& params);

}  // namespace cachebisect::stages
