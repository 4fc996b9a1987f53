// Which file of a data set holds a sample.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "cachebisect/base/error.hpp"

namespace cachebisect {

/// Throws Error(internal) unless `index` is one of `size` samples.
inline void require_sample(std::uint64_t index, std::uint64_t size) {
  if (index < size) return;
  throw Error(ErrorKind::internal,
              "sample " + std::to_string(index) + " of " + std::to_string(size) + " was requested");
}

struct SamplePlace {
  std::size_t file = 0;
  std::uint64_t sample = 0;  ///< of this file
};

/// `ends`: for each file, the number of samples up to its end. Throws Error(internal) if there are
/// fewer samples.
inline SamplePlace place_of_sample(std::span<const std::uint64_t> ends, std::uint64_t index) {
  require_sample(index, ends.empty() ? 0 : ends.back());
  const auto file = static_cast<std::size_t>(std::ranges::upper_bound(ends, index) - ends.begin());
  return {file, index - (file == 0 ? 0 : ends[file - 1])};
}

}  // namespace cachebisect
