#include "stages/datasets/held_file.hpp"

#include <utility>

#include <sys/resource.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/file.hpp"

namespace cachebisect::stages {

HeldFile::HeldFile(std::unique_ptr<const ByteSource> bytes, bool keep_open)
    : path_(bytes->path()), size_(bytes->size()) {
  if (keep_open || bytes->is_remote()) bytes_ = std::move(bytes);
}

std::size_t HeldFile::most_open() {
  rlimit limit{};
  constexpr std::size_t kUsual = 1024;
  const std::size_t most =
      ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? std::size_t{limit.rlim_cur} : kUsual;
  return most / 4;
}

void HeldFile::read(std::uint64_t offset, std::span<std::byte> first,
                    std::span<std::byte> second) const {
  if (bytes_) return bytes_->read(offset, first, second);
  std::uint64_t size = 0;
  const FileDescriptor file = open_regular(path_.c_str(), size);
  if (size != size_) {
    throw Error(ErrorKind::data, path_ + ": has " + std::to_string(size) + " bytes, and had " +
                                     std::to_string(size_) +
                                     " when it was indexed; it was changed while it was in use");
  }
  read_exactly(file.get(), path_.c_str(), offset, first);
  read_exactly(file.get(), path_.c_str(), offset + first.size(), second);
}

}  // namespace cachebisect::stages
