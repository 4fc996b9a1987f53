// How what a store of samples holds differs from what is wanted of it.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// "holds samples of X, and these are of Y": the first line in which two contents differ, as each
/// has it. A content is a fact per line.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string content_difference(const std::string& held,
                                                                      const std::string& wanted);

}  // namespace cachebisect
