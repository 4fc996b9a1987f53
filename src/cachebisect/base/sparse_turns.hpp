// Sparse observation of repeated work: which turns to observe, chosen at random so that weighted
// sums over them estimate the sums over all turns, whatever the rhythm of the work.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "cachebisect/base/random.hpp"

namespace cachebisect {

/// Divides the turns into stretches and picks one turn of each, all with equal probability. The
/// length of a stretch may depend on everything observed before it. Not thread safe.
class SparseTurns {
 public:
  explicit SparseTurns(std::uint64_t seed = 0) noexcept : random_({.seed = seed}) {}

  /// Starts over: the first `skipped` turns are left out, the next one is observed.
  void reset(std::uint32_t skipped = 0) noexcept {
    stretch_ = 1;
    place_ = 0;
    until_ = skipped + 1;
  }
  /// To be called once per turn. True if the turn is to be observed; then call set_stretch().
  [[nodiscard]] bool next() noexcept { return --until_ == 0; }
  /// The number of turns that the observed one represents.
  [[nodiscard]] double weight() const noexcept { return stretch_; }
  /// Sets the length of the next stretch, which begins where this one ends; at least 1.
  void set_stretch(std::uint32_t turns) noexcept {
    const std::uint32_t rest = stretch_ - 1 - place_;
    stretch_ = turns;
    place_ = turns == 1 ? 0 : static_cast<std::uint32_t>(random_.below(turns));
    until_ = rest + place_ + 1;
  }

 private:
  RandomStream random_;
  std::uint32_t stretch_ = 1;
  std::uint32_t place_ = 0;  ///< of the observed turn in its stretch
  std::uint32_t until_ = 1;
};

/// The stretch, in turns of `seconds` each, at which observations that cost `cost` seconds take no
/// more than `share` of the work. 1 if `seconds` is not known.
[[nodiscard]] inline std::uint32_t affordable_stretch(double cost, double share,
                                                      double seconds) noexcept {
  constexpr double kMaxTurns = 65536;
  if (seconds <= 0) return 1;
  return static_cast<std::uint32_t>(
      std::clamp(std::ceil(cost / (share * seconds)), 1.0, kMaxTurns));
}

}  // namespace cachebisect
