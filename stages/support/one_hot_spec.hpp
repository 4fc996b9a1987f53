// The parameters of the stages that make labels one-hot.
#pragma once

#include <vector>

#include "cachebisect/pipeline/params.hpp"

namespace cachebisect::stages {

/// `classes`, required, and `fields` with the default ["label"].
std::vector<ParamSpec> one_hot_params();

}  // namespace cachebisect::stages
