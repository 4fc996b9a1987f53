// What may make the report's figures other than those of the user's own job.
#pragma once

#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report_builder.hpp"

namespace cachebisect {

[[nodiscard]] CACHEBISECT_API std::vector<Warning> find_warnings(const Report& report,
                                                                 const Measured& measured,
                                                                 const BisectOptions& options);

}  // namespace cachebisect
