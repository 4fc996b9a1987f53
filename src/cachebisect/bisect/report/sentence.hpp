// The verdict in a sentence that a person can act on.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/evidence/findings.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

[[nodiscard]] CACHEBISECT_API std::string verdict_sentence(const Report& report);
/// For the progress line: "crop: 41% (38 to 44%)".
[[nodiscard]] CACHEBISECT_API std::string best_estimate(const ChainDescription& chain,
                                                        const Findings& findings);

}  // namespace cachebisect
