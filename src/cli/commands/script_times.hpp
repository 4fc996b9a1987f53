// Times the batches of an unchanged Python script: starts the command with the hook of the Python
// package, which writes what it timed to a file.
#pragma once

#include <map>
#include <stop_token>
#include <string>

#include "commands/time_options.hpp"

#include "cachebisect/timing/timing_record.hpp"

namespace cachebisect::cli {

struct ScriptTimes {
  TimingRecord record;
  int exit_code = 0;  ///< 3 if the command failed after some batches
};

/// Waits for the end of the command. On `stop` it gets SIGINT, and what it timed until then counts.
/// Throws Error(usage) if it trains on no DataLoader, and Error(data) if it fails before it does.
/// `environment`: further variables of the command.
ScriptTimes time_script(const TimeArguments& arguments, const TimingOptions& options,
                        const std::stop_token& stop,
                        const std::map<std::string, std::string>& environment = {});

}  // namespace cachebisect::cli
