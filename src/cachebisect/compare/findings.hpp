// What a comparison shows, in words. Internal to compare/.
#pragma once

#include <string>
#include <vector>

#include "cachebisect/compare/comparison.hpp"

namespace cachebisect {

/// Sentences about the figures that changed for certain, and one if live did not.
[[nodiscard]] std::vector<std::string> describe_changes(const Comparison& comparison);

}  // namespace cachebisect
