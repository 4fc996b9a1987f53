// The folder of the Python hook that `run` puts before all others.
#pragma once

#include <map>
#include <string>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// `chosen` (--hook) if it is not empty, else $CACHEBISECT_HOOK, else the folder that belongs to
/// this binary: of the Python package in the same environment, or of the source tree. Throws
/// Error(usage) that names the places if there is no sitecustomize.py.
CACHEBISECT_INTERNAL_API std::string find_hook_folder(const std::string& chosen);

/// What a command needs in its environment so that its Python processes load the hook in this
/// folder.
CACHEBISECT_INTERNAL_API std::map<std::string, std::string> hook_environment(
    const std::string& folder);

}  // namespace cachebisect
