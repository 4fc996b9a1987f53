// The processes that a process has started, and those that these have started.
#pragma once

#include <vector>

#include <sys/types.h>

namespace cachebisect {

/// Living descendants of `process`, parents before their children; empty if the system does not
/// tell. Any thread.
std::vector<pid_t> descendants_of(pid_t process) noexcept;

}  // namespace cachebisect
