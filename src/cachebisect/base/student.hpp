// Student's distribution.
#pragma once

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// The t that |T| does not exceed with this probability, in (0, 1), at `freedom` > 0 degrees of
/// freedom. Pure and thread safe.
CACHEBISECT_INTERNAL_API double student_quantile(double probability, double freedom);

}  // namespace cachebisect
