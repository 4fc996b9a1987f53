// What follows from a verdict, in sentences: what the loss costs, what fixing one stage would give,
// what limits then, what the loss consists of, and what the host spends a step in.
#pragma once

#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// Empty if none of it was measured.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<std::string> consequences(const Report& report);

}  // namespace cachebisect
