// Waiting for file descriptors with a deadline.
#pragma once

#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// The descriptors that are readable or closed by the peer, in the order given; empty after
/// `deadline` (seconds of the monotonic clock; empty: never). Negative descriptors are ignored.
/// Throws Error(internal) if the system cannot wait.
CACHEBISECT_INTERNAL_API std::vector<int> wait_readable(const std::vector<int>& descriptors,
                                                        std::optional<double> deadline);
/// False after `deadline`.
bool wait_writable(int descriptor, double deadline);

}  // namespace cachebisect
