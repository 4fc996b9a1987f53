// The Chrome trace of a profile: its own tracks and, where there is one, LibTorch's trace.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/profile/profile.hpp"

namespace cachebisect::profile {

/// A JSON object with traceEvents, which chrome://tracing, Perfetto and PyTorch's tools read.
/// Throws Error(data) if LibTorch's trace cannot be read.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string trace_json(const Profile& profile);

}  // namespace cachebisect::profile
