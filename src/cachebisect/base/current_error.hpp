// Any exception as an Error: the code of stages, training steps and plugins may throw anything.
#pragma once

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// The exception that is being handled: an Error unchanged, std::bad_alloc as Error(data) with the
/// remedy, everything else as an Error of kind `otherwise` that says what was thrown. Call only in
/// a catch block.
[[nodiscard]] CACHEBISECT_INTERNAL_API Error current_error(ErrorKind otherwise);

}  // namespace cachebisect
