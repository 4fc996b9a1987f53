// How warm the files were that live blocks read, what servers refused, and what that means for
// training.
#pragma once

#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/record/measurements.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// Share of the pages that were in memory before live blocks read them: mean over the live blocks
/// that are evidence. Empty if none of them measured it.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<double> resident_share(
    const std::vector<BlockRecord>& records);

/// `memory_bytes` of the machine or its control group; 0: unknown.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<Warning> find_reading_warnings(
    const Measurements& measured, double memory_bytes);

}  // namespace cachebisect
