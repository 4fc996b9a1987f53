// The measuring half of bisect(): everything but the analysis.
#pragma once

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/record/bisect_options.hpp"
#include "cachebisect/bisect/record/measurements.hpp"
#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect {

/// bisect() is assemble() of this and its analyse(). Throws as bisect().
[[nodiscard]] CACHEBISECT_INTERNAL_API Measurements measure(Replayer& replayer,
                                                            const BisectOptions& options = {});

}  // namespace cachebisect
