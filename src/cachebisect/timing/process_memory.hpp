// Peak memory of this process.
#pragma once

#include <optional>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// Bytes of memory that the process had in use at most, since it began or since
/// reset_peak_memory(). Empty if the system does not tell.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<double> peak_memory_bytes();
/// The peak begins anew, where the system allows it.
CACHEBISECT_INTERNAL_API void reset_peak_memory() noexcept;

}  // namespace cachebisect
