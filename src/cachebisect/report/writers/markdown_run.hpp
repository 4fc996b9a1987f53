// What was measured, on what and how.
#pragma once

#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/format/document/document.hpp"

namespace cachebisect {

/// What was run, the machine and its noise.
[[nodiscard]] document::Table run_table(const Report& report);
/// The pipeline with its defaults as JSON; empty if there is none.
[[nodiscard]] document::Code pipeline_code(const Report& report);

}  // namespace cachebisect
