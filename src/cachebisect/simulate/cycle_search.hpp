// Finds the cycle that a simulated ring falls into.
#pragma once

#include <cstddef>
#include <optional>

#include "cachebisect/base/export.hpp"
#include "cachebisect/simulate/ring_state.hpp"

namespace cachebisect {

/// Brent's algorithm (An improved Monte Carlo factorization algorithm, BIT 20, 1980): every state
/// is compared with one that was kept, which is replaced after 1, 2, 4, 8, ... states. Not thread
/// safe.
class CACHEBISECT_INTERNAL_API CycleSearch {
 public:
  /// An empty state, to be filled before recurs().
  [[nodiscard]] RingState& next();
  /// Takes the state just filled, of the ring after `steps` steps at time `now`. The length of the
  /// cycle in steps if this is the kept state again.
  [[nodiscard]] std::optional<std::size_t> recurs(std::size_t steps, double now);

 private:
  RingState state_;
  RingState kept_;
  double kept_at_ = 0;          ///< time of the kept state
  std::size_t kept_steps_ = 0;  ///< steps of the ring in the kept state
  std::size_t since_kept_ = 0;  ///< states
  std::size_t keep_for_ = 1;    ///< states
};

}  // namespace cachebisect
