// Live and the training step alone at different CPU clocks.
#pragma once

#include <optional>
#include <vector>

#include "cachebisect/bisect/record/block_record.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// A warning if the clocks of live and of the ceiling (boundary `last`) in the same rounds differ
/// certainly, and by more than 3%. Empty without a frequency driver.
[[nodiscard]] std::optional<Warning> clock_warning(const std::vector<BlockRecord>& records,
                                                   int last, double confidence);

}  // namespace cachebisect
