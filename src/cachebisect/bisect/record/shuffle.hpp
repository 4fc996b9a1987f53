// A random order from a counter-based stream, so that it depends on the seed alone.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "cachebisect/base/random.hpp"

namespace cachebisect {

/// Every order is equally likely (Fisher and Yates).
template <typename T>
void shuffle(std::vector<T>& values, RandomStream& random) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
}

}  // namespace cachebisect
