// A doubt about the number of workers that "auto" chose.
#pragma once

#include <optional>

#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

/// Empty if the count was given, or if the search for it left no doubt.
[[nodiscard]] std::optional<Warning> worker_search_warning(const ChainDescription& chain);

}  // namespace cachebisect
