// Profiles an unchanged Python script: times its batches, with torch.profiler running over them.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/observe/follow_script.hpp"
#include "cachebisect/profile/profile.hpp"

namespace cachebisect::profile {

struct ScriptProfile {
  Profile profile;
  int exit_code = 0;  ///< 3 if the command failed after some batches
};

/// `hook`: as for find_hook_folder(). Throws as follow_script() does.
[[nodiscard]] CACHEBISECT_INTERNAL_API ScriptProfile
profile_script(CommandWithFolder& run, const std::vector<std::string>& command,
               const std::string& hook, const Options& options, const std::stop_token& stop);

}  // namespace cachebisect::profile
