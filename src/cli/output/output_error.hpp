// What is said of an output that cannot be written.
#pragma once

#include <string>

namespace cachebisect::cli {

/// Throws Error(output) with the system's reason for `code` (errno) and what to do about it.
[[noreturn]] void fail_output(const std::string& path, int code);

}  // namespace cachebisect::cli
