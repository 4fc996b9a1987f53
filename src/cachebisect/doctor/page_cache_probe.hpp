// Checks whether files of a folder can be dropped from the page cache, so that reads are cold.
#pragma once

#include <optional>
#include <string>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

struct PageCacheFacts {
  std::string folder;
  std::string file_system;                        ///< "ext4", "tmpfs", "overlay"; empty: unknown
  std::optional<double> resident_after_write;     ///< share of a file's pages; empty: unknown
  std::optional<double> resident_after_eviction;  ///< empty: unknown
  std::string problem;                            ///< why nothing was tried; else empty

  /// Whether eviction dropped nearly all pages; empty if unknown.
  [[nodiscard]] std::optional<bool> eviction_works() const {
    if (!resident_after_eviction) return std::nullopt;
    return *resident_after_eviction < 0.05;
  }
};

/// Writes a file of 4 MiB into `folder` (made if missing), evicts it as `--io cold` does, and
/// removes it. Does not throw for a folder that cannot be used.
CACHEBISECT_INTERNAL_API PageCacheFacts probe_page_cache(const std::string& folder);

}  // namespace cachebisect
