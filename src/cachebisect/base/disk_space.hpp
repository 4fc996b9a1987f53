// Room on the disk of a folder.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// Bytes that this user may still write to the disk on which the folder lies, or would lie; 0 if
/// the system does not tell. Does not throw.
[[nodiscard]] CACHEBISECT_INTERNAL_API double free_bytes_at(const std::string& folder);

}  // namespace cachebisect
