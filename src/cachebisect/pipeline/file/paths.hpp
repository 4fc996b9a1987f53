// ${VAR} and relative paths of the pipeline file. Internal to the pipeline floor.
#pragma once

#include <string>

#include "cachebisect/pipeline/file/context.hpp"

namespace cachebisect::spec {

/// Expands ${cache} and ${VAR} once (what a variable holds is not looked at again) and makes the
/// path absolute from the file's folder. Fails for an unset variable, naming it.
std::string resolve_path(const std::string& path, const Pointer& at, const Context& context);

}  // namespace cachebisect::spec
