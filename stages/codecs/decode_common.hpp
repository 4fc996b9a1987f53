// Checks that the decode stages share.
#pragma once

#include <string_view>

#include "cachebisect/data/sample.hpp"

namespace cachebisect::stages {

/// The field `name` of `spec`, which must hold uint8 bytes of the shape `wanted` (where kDynamic
/// stands for any length). Throws Error(usage) that says what comes in and what is needed.
FieldSpec& required_bytes(SampleSpec& spec, std::string_view name, const Shape& wanted,
                          std::string_view meaning);

/// The bytes of `field`, dense and of exactly the shape `wanted`. Throws Error(data) otherwise.
ConstTensorView record_view(const Field& field, const Shape& wanted);

}  // namespace cachebisect::stages
