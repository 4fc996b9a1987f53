// Whether what a stage computes goes through something that all workers share, such as the memory
// bus: no counter shows that, but a stage that takes longer where other stages leave it alone does.
#pragma once

#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/costs/beside_live.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

struct StageSharing {
  enum class Kind {
    unknown,  ///< nothing that was measured tells
    alone,    ///< takes as long whatever runs beside it
    shared,
  };
  Kind kind = Kind::unknown;
  double share = 0;  ///< shared: of a live sample's seconds, those that it holds what is shared
};

/// One a stage. Workers who wait for one another inside a stage take so much longer in it, all
/// together, as stages before it are replayed and keep them away from it less: the time moves from
/// those stages to this one. Where workers limit at both boundaries that is all or nothing.
[[nodiscard]] CACHEBISECT_API std::vector<StageSharing> find_sharing(const Report& report,
                                                                     const RoundRatios& ratios);

}  // namespace cachebisect
