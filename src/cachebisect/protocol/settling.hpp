// How long an arm that begins with an empty ring takes to settle.
#pragma once

#include <algorithm>

namespace cachebisect {

/// Untimed steps until the ring has filled, and workers that started together have moved apart.
[[nodiscard]] constexpr int settling_steps(int workers, int ring_slots) noexcept {
  constexpr int kOfDevice = 4;  ///< its own queue
  return std::max({kOfDevice, workers, ring_slots});
}

}  // namespace cachebisect
