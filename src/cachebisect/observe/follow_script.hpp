// Observes the training loop of an unchanged Python script: starts the command with the hook of the
// Python package, which writes what it has observed to a file.
#pragma once

#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/launch/command_with_folder.hpp"
#include "cachebisect/observe/script_loop.hpp"

namespace cachebisect {

struct ScriptCommand {
  std::vector<std::string> words;  ///< of the command line, at least one
  std::string hook{};              ///< see find_hook_folder()
  bool continues = false;          ///< trains on after what was observed
  bool stdout_to_stderr = false;
  std::map<std::string, std::string> environment{};  ///< added to that of this process
};

struct FollowedScript {
  ScriptLoop loop;    ///< at least one batch
  int exit_code = 0;  ///< 3 if the command failed after some batches
};

/// Waits in `run` for the end of the command. On `stop` it gets SIGINT, and what was observed until
/// then counts. Throws Error(usage) if it trains on no DataLoader, Error(data) if it fails before
/// it does, and what CommandWithFolder throws.
[[nodiscard]] CACHEBISECT_INTERNAL_API FollowedScript follow_script(CommandWithFolder& run,
                                                                    const ScriptCommand& command,
                                                                    const LoopLimits& limits,
                                                                    const std::stop_token& stop);

}  // namespace cachebisect
