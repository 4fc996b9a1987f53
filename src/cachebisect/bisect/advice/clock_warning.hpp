// Live and the training step alone at different clocks, of the CPU or of the accelerator.
#pragma once

#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/record/block_record.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// Warnings about clocks of live and of the ceiling (boundary `last`), in rounds with both: the
/// CPU's, if they differ certainly and by more than 3%; the accelerator's (SM clock), if their
/// medians differ by more than 2%. Empty if the clocks are unknown.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<Warning> clock_warnings(
    const std::vector<BlockRecord>& records, int last, double confidence);

/// The accelerator's throttling in blocks that count as evidence, and in those that were repeated
/// because of it. Empty if there was none.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<Warning> throttling_warning(
    const std::vector<BlockRecord>& records);

}  // namespace cachebisect
