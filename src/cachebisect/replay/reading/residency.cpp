#include "cachebisect/replay/reading/residency.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cachebisect/base/file_descriptor.hpp"
#include "cachebisect/replay/reading/page_cache.hpp"

namespace cachebisect {
namespace {

/// Pages by file, sorted, with overlapping ranges merged.
using PagesByFile = std::map<std::string, std::vector<PageRange>>;

PagesByFile pages_of(const SourceStage& source, std::span<const SampleIndex> indices) {
  const std::uint64_t page = page_bytes();
  PagesByFile pages;
  for (const SampleIndex index : indices) {
    for (const FileRange& range : source.files(index)) {
      if (range.bytes == 0) continue;
      pages[range.path].push_back(
          {range.offset / page, (range.offset + range.bytes + page - 1) / page});
    }
  }
  for (auto& [path, ranges] : pages) {
    std::sort(ranges.begin(), ranges.end(),
              [](const PageRange& a, const PageRange& b) { return a.first < b.first; });
    std::vector<PageRange> joined;
    for (const PageRange& range : ranges) {
      if (!joined.empty() && range.first <= joined.back().last) {
        joined.back().last = std::max(joined.back().last, range.last);
      } else {
        joined.push_back(range);
      }
    }
    ranges = std::move(joined);
  }
  return pages;
}

class OpenFile {
 public:
  // Non-blocking, in case the file is a FIFO.
  explicit OpenFile(const std::string& path)
      : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat status {};
    if (file_.is_open() && fstat(fd(), &status) == 0 && S_ISREG(status.st_mode)) {
      size_ = static_cast<std::uint64_t>(status.st_size);
    }
  }
  [[nodiscard]] int fd() const noexcept { return file_.get(); }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }  ///< 0: not a regular file

 private:
  FileDescriptor file_;
  std::uint64_t size_ = 0;
};

struct PageCount {
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
};

/// Counts the pages of one file; false if the system does not report them.
bool count_pages(const std::string& path, const std::vector<PageRange>& ranges, PageCount& count) {
  const OpenFile file(path);
  if (file.size() == 0) return false;
  const std::uint64_t page = page_bytes();
  const std::uint64_t file_pages = (file.size() + page - 1) / page;
  for (const PageRange& range : ranges) {
    const PageRange within{range.first, std::min(range.last, file_pages)};
    if (within.first >= within.last) continue;
    const auto resident = resident_pages(file.fd(), within);
    if (!resident) return false;
    count.all += within.last - within.first;
    count.resident += *resident;
  }
  return true;
}

}  // namespace

std::optional<double> resident_share(const SourceStage& source,
                                     std::span<const SampleIndex> indices) {
  PageCount count;
  for (const auto& [path, ranges] : pages_of(source, indices)) {
    if (!count_pages(path, ranges, count)) return std::nullopt;
  }
  if (count.all == 0) return std::nullopt;
  return static_cast<double>(count.resident) / static_cast<double>(count.all);
}

void evict(const SourceStage& source, std::span<const SampleIndex> indices) {
  const std::uint64_t page = page_bytes();
  for (const auto& [path, ranges] : pages_of(source, indices)) {
    const OpenFile file(path);
    if (file.size() == 0) continue;
    fsync(file.fd());  // because dirty pages are not dropped
    for (const PageRange& range : ranges) {
      posix_fadvise(file.fd(), static_cast<off_t>(range.first * page),
                    static_cast<off_t>((range.last - range.first) * page), POSIX_FADV_DONTNEED);
    }
  }
}

}  // namespace cachebisect
