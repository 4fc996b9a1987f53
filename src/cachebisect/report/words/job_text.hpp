// What was run, in words, for every writer that opens with it.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// "device cuda:0, batch 64, 4 workers, step: lenet, sgd, fp32".
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string job_text(const ChainDescription& chain);
/// "12 rounds in 6.1 s + 4.2 s to explain, 512 samples cached at each boundary".
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string rounds_text(const Report& report);

}  // namespace cachebisect
