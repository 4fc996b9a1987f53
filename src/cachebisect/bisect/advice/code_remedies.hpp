// Remedies as lines of code.
#pragma once

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/protocol/job_settings.hpp"

namespace cachebisect {

/// Puts the lines of code to change in place of the edits and flags of a pipeline file. A remedy
/// that changes no setting has the line that the adapter gives for it, if it does.
CACHEBISECT_INTERNAL_API void write_in_code(Remedy& remedy, const JobSettings& settings);

}  // namespace cachebisect
