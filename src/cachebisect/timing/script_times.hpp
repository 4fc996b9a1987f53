// Times the batches of an unchanged Python script.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/observe/follow_script.hpp"
#include "cachebisect/timing/time_job.hpp"
#include "cachebisect/timing/timing_record.hpp"

namespace cachebisect {

struct ScriptTimes {
  TimingRecord record;
  int exit_code = 0;  ///< 3 if the command failed after some batches
};

/// `command`: the words of the script's command line.
[[nodiscard]] CACHEBISECT_INTERNAL_API TimingRecord timing_record_of(
    ScriptLoop loop, const std::vector<std::string>& command, const TimingOptions& options);

/// See follow_script().
[[nodiscard]] CACHEBISECT_INTERNAL_API ScriptTimes time_script(CommandWithFolder& run,
                                                               const ScriptCommand& command,
                                                               const TimingOptions& options,
                                                               const std::stop_token& stop);

}  // namespace cachebisect
