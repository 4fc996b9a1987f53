// Number of pages of a file range that are in the page cache, as the kernel reports it.
#pragma once

#include <cstdint>
#include <optional>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// A range of a file in whole pages.
struct PageRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;  ///< one past the end
};

/// By cachestat(2), Linux 6.5; empty if the kernel does not have it or does not permit it.
CACHEBISECT_INTERNAL_API std::optional<std::uint64_t> resident_by_cachestat(int fd,
                                                                            const PageRange& range);
/// By mincore(2), which is truthful only for files that we own or may write; empty for others.
CACHEBISECT_INTERNAL_API std::optional<std::uint64_t> resident_by_mincore(int fd,
                                                                          const PageRange& range);
/// By cachestat, else by mincore.
CACHEBISECT_INTERNAL_API std::optional<std::uint64_t> resident_pages(int fd,
                                                                     const PageRange& range);

[[nodiscard]] CACHEBISECT_INTERNAL_API std::uint64_t page_bytes();

}  // namespace cachebisect
