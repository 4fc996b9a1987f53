#include "cachebisect/pipeline/stage.hpp"

#include <sys/stat.h>

namespace cachebisect {

std::uint64_t bytes_of(const FileRange& range) noexcept {
  if (range.bytes != FileRange::kToEnd) return range.bytes;
  struct stat status {};
  if (stat(range.path.c_str(), &status) != 0) return 0;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  return size > range.offset ? size - range.offset : 0;
}

Stage::~Stage() = default;

std::vector<FileRange> SourceStage::files(SampleIndex /*index*/) const { return {}; }

std::span<const std::byte> SourceStage::held(SampleIndex /*index*/) const { return {}; }

std::span<const std::byte> CacheStage::held(SampleIndex /*index*/) const { return {}; }

std::uint64_t SourceStage::stored_bytes(SampleIndex index) const {
  std::uint64_t bytes = 0;
  for (const FileRange& range : files(index)) bytes += bytes_of(range);
  return bytes;
}

}  // namespace cachebisect
