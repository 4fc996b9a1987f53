// Remedies that need a folder to write to, which the user has to name.
#pragma once

namespace cachebisect {

/// Stands in their edits and commands for that folder.
inline constexpr const char* kScratchFolder = "FOLDER";
/// The id of a cache.disk that is inserted.
inline constexpr const char* kDiskCacheId = "cache_disk";

}  // namespace cachebisect
