#include "cachebisect/replay/reading/files_of.hpp"

#include <algorithm>
#include <new>

namespace cachebisect {
namespace {

constexpr std::size_t kMaxSamples = 256;

double bytes_of_files(const SourceStage& source, SampleIndex index) {
  double bytes = 0;
  for (const FileRange& range : files_of(source, index))
    bytes += static_cast<double>(bytes_of(range));
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
  for (std::size_t i = 0; i < count; ++i)
    bytes += bytes_of_files(source, read[i * read.size() / count]);
  if (bytes == 0) return std::nullopt;
  return bytes / static_cast<double>(count) * static_cast<double>(source.size());
}

}  // namespace cachebisect
