// The storage that a pipeline only emulates, in words.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// "5 ms, 100 MB/s, 500 requests/s" of a pipeline file with its defaults (to_json()); empty if its
/// source reads from real storage.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string emulated_storage_text(
    const std::string& effective_json);

}  // namespace cachebisect
