// The verdict as the report states it.
#pragma once

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/analysis/verdict_rules.hpp"

namespace cachebisect {

/// Without its sentence.
[[nodiscard]] CACHEBISECT_INTERNAL_API Verdict make_verdict(const Judgement& judgement,
                                                            const JudgedRun& run);

}  // namespace cachebisect
