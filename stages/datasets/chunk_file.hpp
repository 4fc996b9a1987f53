// A file, or an object on a server, of chunks while one is read from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/file.hpp"
#include "cachebisect/objects/byte_source.hpp"

namespace cachebisect::stages {

struct ChunkFile {
  std::string path;
  std::uint64_t bytes = 0;
  FileDescriptor file{};                       ///< of a file
  std::shared_ptr<const ByteSource> object{};  ///< null: it is a file
  std::span<const std::byte> head{};           ///< of an object: what was read already
  std::uint64_t head_at = 0;                   ///< from which byte on

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorKind::data, path + ": " + what);
  }
  /// The part, if it was read already; else empty.
  [[nodiscard]] std::span<const std::byte> in_head(std::uint64_t offset, std::uint64_t size) const {
    const std::uint64_t at = offset - head_at;
    const bool there = offset >= head_at && at <= head.size() && size <= head.size() - at;
    return there ? head.subspan(at, size) : std::span<const std::byte>();
  }
  void read(std::uint64_t offset, std::span<std::byte> out) const;
};

}  // namespace cachebisect::stages
