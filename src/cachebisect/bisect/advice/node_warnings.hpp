// What other machines of a job may have done to the figures.
#pragma once

#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// One warning of each kind at most: it names the machine that is worst, and how many others are
/// concerned.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<Warning> find_node_warnings(
    const std::vector<NodeMachine>& nodes);

}  // namespace cachebisect
