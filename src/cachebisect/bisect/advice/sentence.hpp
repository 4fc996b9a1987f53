// The verdict in a sentence that a person can act on.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/analysis/explanation.hpp"
#include "cachebisect/bisect/analysis/waterfall.hpp"

namespace cachebisect {

[[nodiscard]] CACHEBISECT_INTERNAL_API std::string verdict_sentence(const Measurements& measured,
                                                                    const Waterfall& waterfall,
                                                                    const Explanation& explanation,
                                                                    const Verdict& verdict);

}  // namespace cachebisect
