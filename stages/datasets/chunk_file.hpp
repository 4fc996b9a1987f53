// A file of chunks while one is read from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/file.hpp"

namespace cachebisect::stages {

struct ChunkFile {
  std::string path;
  std::uint64_t bytes = 0;
  FileDescriptor file;

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorKind::data, path + ": " + what);
  }
  void read(std::uint64_t offset, std::span<std::byte> out) const {
    read_exactly(file.get(), path.c_str(), offset, out);
  }
};

}  // namespace cachebisect::stages
