// What rare stalls may add to a mean: too few of them have happened to know their rate well.
#pragma once

#include <optional>
#include <span>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// A part of a loop that was timed: a block, or a group of steps of a run in one piece.
struct Watch {
  double seconds = 0;
  double samples = 0;  ///< above 0
};

/// The largest mean that these times allow, over their mean; 1 if none of them is a stall. A stall
/// is a time far above the median, by the median deviation. Stalls come as a Poisson process of n
/// equal ones, n = (sum of their excesses)^2 / (sum of squared excesses) (Kish's effective size),
/// whose rate has the exact interval of Garwood (1936). Stalls of a kind that never happened are
/// not foreseen.
[[nodiscard]] CACHEBISECT_INTERNAL_API double stalled_mean_limit(std::span<const Watch> watched,
                                                                 double confidence);
/// The same of blocks of equal length. `taus`: seconds per sample, above 0.
[[nodiscard]] CACHEBISECT_INTERNAL_API double stalled_mean_limit(std::span<const double> taus,
                                                                 double confidence);

/// The machine stalls, not a stage, if the ceiling's mean exceeds its median by at least this share
/// of what live's mean does.
inline constexpr double kStallsAlike = 0.5;

/// What live lost by the mean while it was watched.
struct WatchedLoss {
  double loss = 0;  ///< share of throughput
  double high = 0;  ///< the most that the times allow: two standard errors, and more stalls
};

/// Over everything that was watched of live, and of the training step alone. If the step alone
/// stalls too, the machine does, and `high` is what is lost between stalls. Empty without one of
/// the two.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<WatchedLoss> watched_loss(
    std::span<const Watch> live, std::span<const Watch> ceiling, double confidence);

}  // namespace cachebisect
