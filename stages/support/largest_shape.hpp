// The shape that holds every sample of a batch.
#pragma once

#include <span>
#include <string>

#include "cachebisect/data/sample.hpp"

namespace cachebisect::stages {

/// The maximum of every axis of the field over `samples`. Throws Error(data) that names two samples
/// whose dtypes or numbers of dimensions differ.
Shape largest_shape(const std::string& name, std::span<const Sample> samples);

/// The same of shapes of one number of dimensions; there is at least one.
Shape largest_shape(std::span<const Shape> shapes);

}  // namespace cachebisect::stages
