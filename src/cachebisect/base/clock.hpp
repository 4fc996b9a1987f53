// The monotonic clock, and the CPU clocks of a thread and of the process.
#pragma once

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// Seconds of CLOCK_MONOTONIC. Thread safe.
CACHEBISECT_INTERNAL_API double monotonic_seconds() noexcept;
/// CPU seconds used by the calling thread.
CACHEBISECT_INTERNAL_API double thread_cpu_seconds() noexcept;
/// CPU seconds used by all threads of the process.
CACHEBISECT_INTERNAL_API double process_cpu_seconds() noexcept;
/// Sleeps until the monotonic clock reads `deadline` seconds; returns at once if that has passed.
CACHEBISECT_INTERNAL_API void sleep_until(double deadline) noexcept;

}  // namespace cachebisect
