// Prepares the data set of an unchanged Python script: starts the command with the hook of the
// Python package, which writes the data set and ends the script before its first step.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/launch/command_with_folder.hpp"

namespace cachebisect::prepare {

struct ScriptRequest {
  std::vector<std::string> words;  ///< of the command line, at least one
  std::string hook;                ///< see find_hook_folder()
  std::string folder;
  std::string after;  ///< empty: the stage that the hook chooses
  std::uint64_t shard_bytes = 0;
  std::optional<int> workers;  ///< processes that make samples
  std::optional<int> loader;   ///< the N-th that the script iterates; empty: that which trains
  bool random_too = false;
  bool dry_run = false;
  bool stdout_to_stderr = false;
};

struct ScriptResult {
  std::string text;                ///< what was found and written
  std::vector<std::string> lines;  ///< of Python, which use it; none after a dry run
  std::string json;                ///< the same as a JSON object
};

/// The value of CACHEBISECT_PREPARE (python/cachebisect/_prepare_script). The hook writes to
/// `result`.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string script_prepare_request(
    const ScriptRequest& request, const std::string& result);
/// Reads what the hook has written. Throws the error that it tells of, and Error(data) if it is no
/// result.
[[nodiscard]] CACHEBISECT_INTERNAL_API ScriptResult read_script_prepare(const std::string& text);

/// Waits in `run` for the end of the command. Throws Error(usage) if it iterates no DataLoader, or
/// its data set cannot be prepared; Error(data) if it fails before; Error(interrupted); and what
/// CommandWithFolder throws.
[[nodiscard]] CACHEBISECT_INTERNAL_API ScriptResult prepare_script(CommandWithFolder& run,
                                                                   const ScriptRequest& request,
                                                                   const std::stop_token& stop);

}  // namespace cachebisect::prepare
