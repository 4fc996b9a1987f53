#include "cachebisect/replay/reading/page_cache.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cachebisect {
namespace {

// Missing from the headers of older C libraries; the same number on every architecture except
// Alpha.
#ifdef SYS_cachestat
constexpr long kCachestat = SYS_cachestat;
#else
constexpr long kCachestat = 451;
#endif

struct CachestatRange {
  std::uint64_t offset;
  std::uint64_t length;
};

struct Cachestat {
  std::uint64_t cached;
  std::uint64_t dirty;
  std::uint64_t writeback;
  std::uint64_t evicted;
  std::uint64_t recently_evicted;
};

/// The kernel's condition for mincore() to report pages that other processes read.
bool may_ask_mincore(int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return false;
  if (geteuid() == 0 || status.st_uid == geteuid()) return true;
  return access(("/proc/self/fd/" + std::to_string(fd)).c_str(), W_OK) == 0;
}

}  // namespace

std::uint64_t page_bytes() { return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)); }

std::optional<std::uint64_t> resident_by_cachestat(int fd, const PageRange& range) {
  CachestatRange bytes{range.first * page_bytes(), (range.last - range.first) * page_bytes()};
  Cachestat counts{};
  if (range.last <= range.first) return 0;
  if (syscall(kCachestat, fd, &bytes, &counts, 0U) != 0) return std::nullopt;
  return counts.cached;
}

std::optional<std::uint64_t> resident_by_mincore(int fd, const PageRange& range) {
  if (range.last <= range.first) return 0;
  if (!may_ask_mincore(fd)) return std::nullopt;
  const std::uint64_t page = page_bytes();
  const std::size_t bytes = (range.last - range.first) * page;
  void* map =
      mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, static_cast<off_t>(range.first * page));
  if (map == MAP_FAILED) return std::nullopt;  // NOLINT(performance-no-int-to-ptr)
  std::vector<unsigned char> resident(range.last - range.first);
  const bool known = mincore(map, bytes, resident.data()) == 0;
  munmap(map, bytes);
  if (!known) return std::nullopt;
  return static_cast<std::uint64_t>(std::count_if(resident.begin(), resident.end(),
                                                  [](unsigned char c) { return (c & 1U) != 0; }));
}

std::optional<std::uint64_t> resident_pages(int fd, const PageRange& range) {
  const auto counted = resident_by_cachestat(fd, range);
  return counted ? counted : resident_by_mincore(fd, range);
}

}  // namespace cachebisect
