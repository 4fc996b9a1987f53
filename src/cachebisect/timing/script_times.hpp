// Times the batches of an unchanged Python script: starts the command with the hook of the Python
// package, which writes what it timed to a file.
#pragma once

#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/timing/time_job.hpp"
#include "cachebisect/timing/timing_record.hpp"

namespace cachebisect {

struct ScriptCommand {
  std::vector<std::string> words;  ///< of the command line, at least one
  std::string hook{};              ///< see find_hook_folder()
  bool continues = false;          ///< trains on after what was timed
  bool stdout_to_stderr = false;
  std::map<std::string, std::string> environment{};  ///< added to that of this process
};

struct ScriptTimes {
  TimingRecord record;
  int exit_code = 0;  ///< 3 if the command failed after some batches
};

/// Waits for the end of the command. On `stop` it gets SIGINT, and what it timed until then counts.
/// Throws Error(usage) if it trains on no DataLoader, and Error(data) if it fails before it does.
[[nodiscard]] CACHEBISECT_INTERNAL_API ScriptTimes time_script(const ScriptCommand& command,
                                                               const TimingOptions& options,
                                                               const std::stop_token& stop);

}  // namespace cachebisect
