// What rare stalls may add to a mean: too few of them have happened to know their rate well.
#pragma once

#include <span>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/record/block_record.hpp"

namespace cachebisect {

/// The largest mean that these block times allow, over their mean; 1 if none of them is a stall. A
/// stall is a block far above the median, by the median deviation. Stalls come as a Poisson process
/// of n equal ones, n = (sum of their excesses)^2 / (sum of squared excesses) (Kish's effective
/// size), whose rate has the exact interval of Garwood (1936). Stalls of a kind that never happened
/// are not foreseen. `taus`: seconds per sample, above 0.
[[nodiscard]] CACHEBISECT_INTERNAL_API double stalled_mean_limit(std::span<const double> taus,
                                                                 double confidence);

/// A part of a loop that was timed: a block, or a group of steps of a run in one piece.
struct Watch {
  double seconds = 0;
  double samples = 0;  ///< above 0
};

/// The blocks at a boundary that are evidence, with or without probes.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<Watch> watched_blocks(
    std::span<const BlockRecord> records, int boundary, bool observed = true);
/// The groups of a run in one piece.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<Watch> groups_of(const BlockResult& run);

struct StalledShare {
  double share = 0;   ///< of the time that was watched
  double high = 0;    ///< the most that stalls as rare as these may take in a long run
  double stalls = 0;  ///< how many equal ones would be known as well
};

/// The share of the watched time that is lost in stalls; stalls as above. Each list holds times
/// that are alike: a level that changed from one list to another is no stall.
[[nodiscard]] CACHEBISECT_INTERNAL_API StalledShare
stalled_share(std::span<const std::vector<Watch>> watched, double confidence);

}  // namespace cachebisect
