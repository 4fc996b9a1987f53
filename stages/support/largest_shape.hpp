// The shape that holds every sample of a batch, and what such samples must have in common.
#pragma once

#include <span>
#include <string>

#include "cachebisect/data/sample.hpp"

namespace cachebisect::stages {

/// Throws Error(data) that names two samples of whose fields the dtypes or the numbers of
/// dimensions differ.
void require_one_kind(const std::string& name, std::span<const Sample> samples);

/// The maximum of every axis of the field over `samples`. Throws as require_one_kind().
Shape largest_shape(const std::string& name, std::span<const Sample> samples);

/// The same of shapes of one number of dimensions; there is at least one.
Shape largest_shape(std::span<const Shape> shapes);

}  // namespace cachebisect::stages
