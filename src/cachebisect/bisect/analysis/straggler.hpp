// Whether the same rank of a distributed job is slowest all the time, or the slowest one changes.
#pragma once

#include <optional>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/record/measurements.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// After an all-reduce all ranks have taken the same time, but only those that were late have
/// waited for data of their own. So each round of live blocks tells which rank waited longest; it
/// counts as the slowest if it waited more than twice as long as every other. Exact binomial bounds
/// of the share of such rounds tell, at the run's confidence, that one rank is the slowest in more
/// than half of them, or that there mostly is one and it is not always the same. They take rounds
/// as independent of each other: a rank that is slow while it is measured, and not later, is fixed.
/// Empty if neither is certain, and for less than two ranks with loaders.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<Straggler> find_straggler(
    const Measurements& measured);

}  // namespace cachebisect
