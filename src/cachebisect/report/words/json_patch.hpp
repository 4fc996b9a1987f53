// Edits of a pipeline file as JSON Patch (RFC 6902).
#pragma once

#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// All edits as one patch, on one line.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string json_patch(const std::vector<Edit>& edits);

}  // namespace cachebisect
