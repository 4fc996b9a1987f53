// What must be equal for two jobs to be comparable. Internal to compare/.
#pragma once

#include <string>
#include <vector>

#include "cachebisect/protocol/chain_description.hpp"

namespace cachebisect {

/// "batch size: 8 in A, 16 in B" for each that differs.
[[nodiscard]] std::vector<std::string> mismatches(const ChainDescription& a,
                                                  const ChainDescription& b);
/// Throws Error(usage) with all of them unless there are none, or the comparison was forced.
void refuse_unless_comparable(const std::vector<std::string>& mismatches, bool force);

}  // namespace cachebisect
