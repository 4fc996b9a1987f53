// An arm in words.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// "live", "step alone", "replayed after decode", "live, but crop is free". Repetitions, whatever
/// they repeat, are called the same.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string arm_text(const Arm& arm, const Report& report);

}  // namespace cachebisect
