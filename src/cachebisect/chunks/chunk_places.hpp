// How many chunks a sample touches along one dimension, over all places where it may begin.
#pragma once

#include <cstdint>
#include <optional>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// A sample touches `fewest` chunks, or one more.
struct ChunkPlaces {
  std::uint64_t fewest = 0;
  double one_more = 0;  ///< share of the places at which it touches one more

  [[nodiscard]] std::uint64_t most() const { return one_more > 0 ? fewest + 1 : fewest; }
};

/// `array`: extent that the sample stays within; empty: without end. All are at least 1, and the
/// sample is not larger than the array.
[[nodiscard]] CACHEBISECT_INTERNAL_API ChunkPlaces
chunk_places(std::uint64_t sample, std::uint64_t chunk, const std::optional<std::uint64_t>& array);

}  // namespace cachebisect
