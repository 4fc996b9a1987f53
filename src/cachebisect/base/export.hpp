// Symbol visibility: everything is hidden, except what one of these macros marks.
#pragma once

/// The public interface: declarations in the installed headers (cmake/public_headers.txt).
#define CACHEBISECT_API __attribute__((visibility("default")))

/// Exported for this project's own modules, programs and unit tests. Not part of the interface:
/// headers that use it are not installed.
#define CACHEBISECT_INTERNAL_API __attribute__((visibility("default")))
