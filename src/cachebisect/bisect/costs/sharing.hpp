// Whether what a stage computes goes through a resource that all workers share, such as the memory
// bus. No counter shows that, but a stage that takes longer when other stages leave it alone does.
#pragma once

#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/costs/round_ratios.hpp"
#include "cachebisect/bisect/record/measurements.hpp"

namespace cachebisect {

struct StageSharing {
  enum class Kind {
    unknown,  ///< the measurements do not tell
    alone,    ///< takes the same time whatever runs next to it
    shared,
  };
  Kind kind = Kind::unknown;
  double share = 0;  ///< shared: of a live sample's seconds, how long it holds the resource
};

/// One per stage. Workers that wait for each other inside a stage take longer in it as stages
/// before it are replayed and no longer keep them away from it: the time moves from those stages to
/// this one. If workers limit at both boundaries, all of it moves or nothing.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<StageSharing> find_sharing(
    const Measurements& measured, const RoundRatios& ratios);

}  // namespace cachebisect
