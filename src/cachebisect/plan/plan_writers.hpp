// A plan for a terminal and as JSON.
#pragma once

#include <string>

#include "cachebisect/format/text_options.hpp"
#include "cachebisect/plan/plan.hpp"

namespace cachebisect::plan {

[[nodiscard]] CACHEBISECT_INTERNAL_API std::string to_text(const Plan& plan,
                                                           const TextOptions& options);
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string to_json(const Plan& plan);

}  // namespace cachebisect::plan
