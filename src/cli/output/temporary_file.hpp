// Temporary files next to outputs. Each is locked by the process that writes it, so that those of
// killed processes can be told from those in use, also of other containers and machines.
#pragma once

#include <filesystem>
#include <string>

#include "cachebisect/base/file_descriptor.hpp"

namespace cachebisect::cli {

/// A path for a temporary file in the folder. Makes nothing.
std::string temporary_path(const std::filesystem::path& folder);

/// Makes the file, which must not exist, and locks it until the descriptor and its copies are
/// closed; unlocked if the file system has no locks. Not open, with errno set, on failure.
FileDescriptor make_temporary(const std::string& path);

/// Removes the temporary files in the folder that no process has locked. Ignores what it cannot
/// read, lock or remove.
void remove_abandoned_temporaries(const std::filesystem::path& folder);

}  // namespace cachebisect::cli
