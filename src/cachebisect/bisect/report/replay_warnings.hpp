// Stages whose replay does not represent what they do live.
#pragma once

#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/record/measurements.hpp"
#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/bisect/search/verdict_search.hpp"

namespace cachebisect {

/// One warning per stage, with what it takes live and replayed.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<Warning> find_replay_warnings(
    const Measurements& measured, const VerdictState& state);

}  // namespace cachebisect
