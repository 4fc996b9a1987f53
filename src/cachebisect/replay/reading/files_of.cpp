#include "cachebisect/replay/reading/files_of.hpp"

#include <algorithm>
#include <new>

#include <sys/stat.h>

namespace cachebisect {
namespace {

constexpr std::size_t kMaxSamples = 256;

double bytes_of(const FileRange& range) {
  if (range.bytes != FileRange::kToEnd) return static_cast<double>(range.bytes);
  struct stat status {};
  if (stat(range.path.c_str(), &status) != 0) return 0;
  return std::max(0.0, static_cast<double>(status.st_size) - static_cast<double>(range.offset));
}

double bytes_of(const SourceStage& source, SampleIndex index) {
  double bytes = 0;
  for (const FileRange& range : files_of(source, index)) bytes += bytes_of(range);
  return bytes;
}

}  // namespace

std::vector<FileRange> files_of(const SourceStage& source, SampleIndex index) {
  try {
    return source.files(index);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (...) {  // a plugin may throw anything
    return {};
  }
}

bool names_no_files(const SourceStage& source, SampleIndex index) {
  try {
    return source.files(index).empty();
  } catch (...) {  // Reading the sample will report it.
    return false;
  }
}

std::optional<double> data_set_bytes(const SourceStage& source, std::span<const SampleIndex> read) {
  const std::size_t count = std::min(read.size(), kMaxSamples);
  double bytes = 0;
  for (std::size_t i = 0; i < count; ++i) bytes += bytes_of(source, read[i * read.size() / count]);
  if (bytes == 0) return std::nullopt;
  return bytes / static_cast<double>(count) * static_cast<double>(source.size());
}

}  // namespace cachebisect
