// Waits for commands.
#pragma once

#include <optional>
#include <stop_token>

#include "cachebisect/base/export.hpp"
#include "cachebisect/launch/child_process.hpp"

namespace cachebisect {

/// How the command ended. On `stop` it gets SIGINT, and ten seconds to end; empty if it does not.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<ChildStatus> await_child(
    ChildProcess& child, const std::stop_token& stop);

}  // namespace cachebisect
