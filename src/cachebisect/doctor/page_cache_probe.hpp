// Whether files of a folder can be dropped from the page cache, so that reading them is cold.
#pragma once

#include <optional>
#include <string>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

struct PageCacheFacts {
  std::string folder;
  std::string file_system;                        ///< "ext4", "tmpfs", "overlay"; empty: not known
  std::optional<double> resident_after_write;     ///< share of a file's pages; none: not told
  std::optional<double> resident_after_eviction;  ///< none: not told
  std::string problem;                            ///< why nothing was tried; empty otherwise

  /// Eviction dropped nearly all; none where the system does not tell.
  [[nodiscard]] std::optional<bool> eviction_works() const {
    if (!resident_after_eviction) return std::nullopt;
    return *resident_after_eviction < 0.05;
  }
};

/// Writes a file of 4 MiB into `folder` (made when it is not there), evicts it as `--io cold` does,
/// and removes it. Never throws for a folder that cannot be used.
CACHEBISECT_API PageCacheFacts probe_page_cache(const std::string& folder);

}  // namespace cachebisect
