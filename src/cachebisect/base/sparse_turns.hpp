// Sparse observation of what is done again and again: which turns to look at, chosen so that
// weighted sums over them stand for all turns, whatever rhythm the work has.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "cachebisect/base/random.hpp"

namespace cachebisect {

/// Cuts the turns into stretches and picks one turn of each at random, every one as likely as the
/// others. A stretch's length may depend on all that was seen before it. One thread's own.
class SparseTurns {
 public:
  explicit SparseTurns(std::uint64_t seed = 0) noexcept : random_({.seed = seed}) {}

  /// Begins anew: the first `skipped` turns stand aside, the next one is looked at.
  void reset(std::uint32_t skipped = 0) noexcept {
    stretch_ = 1;
    place_ = 0;
    until_ = skipped + 1;
  }
  /// Once a turn. True when it is to be looked at; set_stretch() must follow then.
  [[nodiscard]] bool next() noexcept { return --until_ == 0; }
  /// Turns that the one being looked at stands for.
  [[nodiscard]] double weight() const noexcept { return stretch_; }
  /// The next stretch, which begins where this one ends, is so many turns long; at least 1.
  void set_stretch(std::uint32_t turns) noexcept {
    const std::uint32_t rest = stretch_ - 1 - place_;
    stretch_ = turns;
    place_ = turns == 1 ? 0 : static_cast<std::uint32_t>(random_.below(turns));
    until_ = rest + place_ + 1;
  }

 private:
  RandomStream random_;
  std::uint32_t stretch_ = 1;
  std::uint32_t place_ = 0;  ///< of the turn looked at, in its stretch
  std::uint32_t until_ = 1;
};

/// Turns of `seconds` each between two looks that cost `cost` seconds, so that looking takes no
/// more than `share` of the work. 1 where nothing is known.
[[nodiscard]] inline std::uint32_t affordable_stretch(double cost, double share,
                                                      double seconds) noexcept {
  constexpr double kLongest = 65536;
  if (seconds <= 0) return 1;
  return static_cast<std::uint32_t>(std::clamp(std::ceil(cost / (share * seconds)), 1.0, kLongest));
}

}  // namespace cachebisect
