// What may make the report's figures other than those of the user's own job.
#pragma once

#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report_builder.hpp"

namespace cachebisect {

/// What of the machine stands between a figure and the truth; `workers` of the pipeline, 0: none.
[[nodiscard]] CACHEBISECT_API std::vector<Warning> find_machine_warnings(
    const MachineReport& machine, int workers);

[[nodiscard]] CACHEBISECT_API std::vector<Warning> find_warnings(const Report& report,
                                                                 const Measured& measured,
                                                                 const BisectOptions& options);

}  // namespace cachebisect
