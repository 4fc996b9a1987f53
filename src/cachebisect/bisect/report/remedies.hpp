// Up to three things to try: what the verdict, the stage's category and the probes suggest.
#pragma once

#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// Reads verdict, stages, chain and machine of a report that is otherwise complete. For `flat` only
/// the training step is advised on; for `anomaly` and unmeasured reports nothing is.
[[nodiscard]] CACHEBISECT_API std::vector<Remedy> find_remedies(const Report& report);

}  // namespace cachebisect
