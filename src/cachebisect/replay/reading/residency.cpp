#include "cachebisect/replay/reading/residency.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cachebisect/replay/reading/files_of.hpp"

namespace cachebisect {
namespace {

constexpr std::uint64_t kOneProbeIn = 64;
constexpr double kProbesTolerate = 0.05;  ///< resident pages of files that were not opened

/// Pages by file, sorted, with overlapping ranges merged.
using PagesByFile = std::map<std::string, std::vector<PageRange>>;

PageRange pages_of(const FileRange& range) {
  const std::uint64_t page = page_bytes();
  const std::uint64_t first = range.offset / page;
  if (range.bytes == FileRange::kToEnd) return {first, FileRange::kToEnd};
  return {first, (range.offset + range.bytes + page - 1) / page};
}

std::vector<PageRange> merged(std::vector<PageRange> ranges) {
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
  return joined;
}

PagesByFile pages_of(const SourceStage& source, std::span<const SampleIndex> indices) {
  PagesByFile pages;
  for (const SampleIndex index : indices) {
    for (const FileRange& range : files_of(source, index)) {
      if (range.bytes > 0) pages[range.path].push_back(pages_of(range));
    }
  }
  for (auto& [path, ranges] : pages) ranges = merged(std::move(ranges));
  return pages;
}

/// Empty unless `file` is an open regular file.
std::optional<std::uint64_t> size_of(const FileDescriptor& file) {
  struct stat status {};
  if (!file.is_open() || fstat(file.get(), &status) != 0) return std::nullopt;
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

struct PageCount {
  double all = 0;
  double resident = 0;
};

/// Empty if the system does not report them.
std::optional<PageCount> count_pages(const FileDescriptor& file,
                                     const std::vector<PageRange>& ranges) {
  const auto size = size_of(file);
  if (!size) return std::nullopt;
  const std::uint64_t page = page_bytes();
  const std::uint64_t file_pages = (*size + page - 1) / page;
  PageCount count;
  for (const PageRange& range : ranges) {
    const PageRange within{range.first, std::min(range.last, file_pages)};
    if (within.first >= within.last) continue;
    const auto resident = resident_pages(file.get(), within);
    if (!resident) return std::nullopt;
    count.all += static_cast<double>(within.last - within.first);
    count.resident += static_cast<double>(*resident);
  }
  return count;
}

void drop_pages(const FileDescriptor& file, const std::vector<PageRange>& ranges) {
  const auto size = size_of(file);
  if (!size) return;
  const std::uint64_t page = page_bytes();
  fsync(file.get());  // because dirty pages are not dropped
  for (const PageRange& range : ranges) {
    const std::uint64_t last = std::min(range.last, (*size + page - 1) / page);
    if (range.first >= last) continue;
    posix_fadvise(file.get(), static_cast<off_t>(range.first * page),
                  static_cast<off_t>((last - range.first) * page), POSIX_FADV_DONTNEED);
  }
}

}  // namespace

void Residency::learn(const SourceStage& source, SampleIndex index) {
  for (const FileRange& range : files_of(source, index)) opener_.learn(range.path);
}

std::optional<FileDescriptor> Residency::look_up(const std::string& path,
                                                 const std::vector<PageRange>& ranges) {
  std::optional<FileDescriptor> file = opener_.open(path);
  if (file) return file;
  if (missed_++ % kOneProbeIn != 0) return std::nullopt;
  file = opener_.open_plainly(path);
  if (const auto count = count_pages(*file, ranges)) {
    probes_.files += 1;
    probes_.pages += count->all;
    probes_.resident += count->resident;
  }
  return file;
}

std::optional<double> Residency::share(const SourceStage& source,
                                       std::span<const SampleIndex> indices) {
  PageCount count;
  double unopened = 0;
  for (const auto& [path, ranges] : pages_of(source, indices)) {
    const auto file = look_up(path, ranges);
    if (!file) {
      unopened += 1;
      continue;
    }
    if (!file->is_open()) continue;
    const auto counted = count_pages(*file, ranges);
    if (!counted) return std::nullopt;
    count.all += counted->all;
    count.resident += counted->resident;
  }
  if (probes_.files > 0) {
    count.all += unopened * probes_.pages / probes_.files;
    count.resident += unopened * probes_.resident / probes_.files;
  }
  if (count.all == 0) return std::nullopt;
  return count.resident / count.all;
}

void Residency::evict(const SourceStage& source, std::span<const SampleIndex> indices) {
  PagesByFile unopened;
  for (const auto& [path, ranges] : pages_of(source, indices)) {
    const auto file = look_up(path, ranges);
    if (file) {
      drop_pages(*file, ranges);
    } else {
      unopened[path] = ranges;
    }
  }
  if (probes_.resident <= kProbesTolerate * probes_.pages) return;
  for (const auto& [path, ranges] : unopened) drop_pages(opener_.open_plainly(path), ranges);
}

}  // namespace cachebisect
