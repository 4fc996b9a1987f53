// Remedies that need a folder to write to, which the user has to name.
#pragma once

#include "cachebisect/bisect/costs/cache_file.hpp"

namespace cachebisect {

/// Stands in their edits and commands for that folder.
inline constexpr const char* kScratchFolder = "FOLDER";
/// The id of a cache in a file.
inline constexpr const char* kDiskCacheId = "cache_disk";
/// The stage behind which the data set is written once; for jobs in code alone.
inline constexpr const char* kPreparedSetting = "prepared";

}  // namespace cachebisect
