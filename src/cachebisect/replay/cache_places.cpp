#include "cachebisect/replay/cache_places.hpp"

#include <algorithm>

#include "cachebisect/base/random.hpp"
#include "cachebisect/replay/kept_loaders.hpp"

namespace cachebisect {

std::uint64_t CachePlaces::begin(const Arm& arm, std::uint64_t cached) {
  Place& place = places_[same_ring(arm)];
  if (place.left > 0) return place.next;
  place.left = std::max<std::uint64_t>(cached, 1);
  if (place.drawn > 0) {
    RandomStream random({.epoch = place.drawn, .stage = hash_name("place in the caches")});
    place.next = random.below(place.left);
  }
  ++place.drawn;
  return place.next;
}

void CachePlaces::freshen() noexcept {
  for (auto& [arm, place] : places_) place.left = 0;
}

void CachePlaces::end(const Arm& arm, std::uint64_t batches) {
  Place& place = places_[same_ring(arm)];
  place.next += batches;
  place.left -= std::min(place.left, batches);
}

}  // namespace cachebisect
