// ${VAR} and relative paths in the pipeline file. Internal to pipeline/file.
#pragma once

#include <string>

#include "cachebisect/pipeline/file/context.hpp"

namespace cachebisect::spec {

/// Expands ${cache} and ${VAR} once, without expanding their values, and makes the path absolute
/// from the file's folder. Fails for an unset variable, naming it.
std::string resolve_path(const std::string& path, const SettingPath& at, const Context& context);

}  // namespace cachebisect::spec
