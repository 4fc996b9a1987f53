// The folder of the Python hook that `run` puts before all others.
#pragma once

#include <string>

namespace cachebisect::cli {

/// `chosen` (--hook) if it is not empty, else $CACHEBISECT_HOOK, else the folder that belongs to
/// this binary: of the Python package in the same environment, or of the source tree. Throws
/// Error(usage) that names the places if there is no sitecustomize.py.
std::string find_hook_folder(const std::string& chosen);

}  // namespace cachebisect::cli
