// The ranges of what a user sets.
#pragma once

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/record/settings.hpp"

namespace cachebisect {

/// Throws Error(usage) for a confidence or a smallest drop that is out of range.
CACHEBISECT_INTERNAL_API void check_settings(const BisectSettings& settings);

}  // namespace cachebisect
