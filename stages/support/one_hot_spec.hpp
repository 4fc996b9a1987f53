// The parameters of the stages that make labels one-hot, and what they accept.
#pragma once

#include <vector>

#include "cachebisect/data/field.hpp"
#include "cachebisect/pipeline/params.hpp"

namespace cachebisect::stages {

/// `classes`, required, and `fields` with the default ["label"].
std::vector<ParamSpec> one_hot_params();
/// Throws Error(usage) unless `field` is of an integer dtype.
void require_labels(const FieldSpec& field);

}  // namespace cachebisect::stages
