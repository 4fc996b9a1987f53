// The profile of a Python script, from the times of its batches, those of its loader and
// torch.profiler's trace.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/observe/script_loading.hpp"
#include "cachebisect/observe/script_loop.hpp"
#include "cachebisect/profile/profile.hpp"

namespace cachebisect::profile {

/// `trace`: empty if there is none. Throws Error(data) if it cannot be read.
[[nodiscard]] CACHEBISECT_INTERNAL_API Profile profile_of_script(const ScriptLoop& loop,
                                                                 const ScriptLoading& loading,
                                                                 const std::string& trace,
                                                                 const Options& options);

}  // namespace cachebisect::profile
