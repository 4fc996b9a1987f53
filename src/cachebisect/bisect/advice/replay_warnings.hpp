// What makes the rounds unfit for a verdict: replay that does not represent the live pipeline, and
// drops that change.
#pragma once

#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/phases/verdict_search.hpp"
#include "cachebisect/bisect/record/measurements.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// One warning per stage that differs, with what it takes live and replayed, and one per part whose
/// drop changed while it was measured; without such a part, one if the whole loss changed.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<Warning> find_replay_warnings(
    const Measurements& measured, const VerdictState& state);

}  // namespace cachebisect
