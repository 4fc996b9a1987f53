#include "cachebisect/replay/reading/data_set_bytes.hpp"

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

/// 0 if the source cannot name the files, as when one has vanished.
double bytes_of(const SourceStage& source, SampleIndex index) {
  try {
    double bytes = 0;
    for (const FileRange& range : source.files(index)) bytes += bytes_of(range);
    return bytes;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (...) {  // a plugin's: reading the sample will report it
    return 0;
  }
}

}  // namespace

std::optional<double> data_set_bytes(const SourceStage& source, std::span<const SampleIndex> read) {
  const std::size_t count = std::min(read.size(), kMaxSamples);
  double bytes = 0;
  for (std::size_t i = 0; i < count; ++i) bytes += bytes_of(source, read[i * read.size() / count]);
  if (bytes == 0) return std::nullopt;
  return bytes / static_cast<double>(count) * static_cast<double>(source.size());
}

}  // namespace cachebisect
