// How many pages of a file range lie in the page cache, as the system tells it.
#pragma once

#include <cstdint>
#include <optional>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// A range of a file in whole pages.
struct PageRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;  ///< one beyond
};

/// By cachestat(2), Linux 6.5; none where the kernel does not have it or does not let us ask.
CACHEBISECT_API std::optional<std::uint64_t> resident_by_cachestat(int fd, const PageRange& range);
/// By mincore(2), which tells the truth only of files that we own or may write; none for others.
CACHEBISECT_API std::optional<std::uint64_t> resident_by_mincore(int fd, const PageRange& range);
/// By the first of the two that answers.
CACHEBISECT_API std::optional<std::uint64_t> resident_pages(int fd, const PageRange& range);

[[nodiscard]] CACHEBISECT_API std::uint64_t page_bytes();

}  // namespace cachebisect
