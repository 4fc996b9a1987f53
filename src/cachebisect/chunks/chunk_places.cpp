#include "cachebisect/chunks/chunk_places.hpp"

#include <algorithm>

namespace cachebisect {

// A sample that begins o elements into a chunk ends in chunk (o + sample - 1) / chunk after it.
// With sample - 1 = q chunk + r that is q for the first chunk - r values of o, and q + 1 for the
// other r.
ChunkPlaces chunk_places(std::uint64_t sample, std::uint64_t chunk,
                         const std::optional<std::uint64_t>& array) {
  const std::uint64_t q = (sample - 1) / chunk;
  const std::uint64_t r = (sample - 1) % chunk;
  if (!array) return {q + 1, static_cast<double>(r) / static_cast<double>(chunk)};
  const std::uint64_t last_place = *array - sample;  // one less than the number of places
  std::uint64_t whole = last_place / chunk;
  std::uint64_t rest = last_place % chunk + 1;
  if (rest == chunk) {
    ++whole;
    rest = 0;
  }
  const std::uint64_t crossing_rest = rest - std::min(rest, chunk - r);
  const double crossing =
      static_cast<double>(whole) * static_cast<double>(r) + static_cast<double>(crossing_rest);
  return {q + 1, crossing / (static_cast<double>(last_place) + 1)};
}

}  // namespace cachebisect
