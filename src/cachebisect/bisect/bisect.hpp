// The bisector: measures a training job from every boundary and names the stage where throughput
// drops. It knows no pipeline, only a Replayer.
#pragma once

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/record/bisect_options.hpp"
#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect {

/// Measures until a verdict is certified or the budget ends, and hands the report out then
/// (BisectOptions::partial). Throws Error(usage) for options out of range, and what the replayer
/// throws before the verdict; an error of what follows it ends the run, and is a warning of the
/// report (`run_failed`).
CACHEBISECT_API Report bisect(Replayer& replayer, const BisectOptions& options = {});

}  // namespace cachebisect
