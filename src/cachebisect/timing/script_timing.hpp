// What the Python hook is asked to time, and what it has timed (python/cachebisect/_timing).
#pragma once

#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/timing/time_job.hpp"
#include "cachebisect/timing/timing_record.hpp"

namespace cachebisect {

/// The value of CACHEBISECT_TIME: the hook writes to `file`; then the script ends, or goes on.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string script_timing_request(
    const std::string& file, const TimingOptions& options, bool continues);

/// Reads what the hook has written. `command`: the words of the script's command line. Throws
/// Error(data) naming what is wrong.
[[nodiscard]] CACHEBISECT_INTERNAL_API TimingRecord read_script_timing(
    const std::string& text, const std::vector<std::string>& command, const TimingOptions& options);

}  // namespace cachebisect
