// Regular files, read whole or by range: never blocks on a FIFO, never dies when a file shrinks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "cachebisect/base/error.hpp"

namespace cachebisect::stages {

/// "No such file or directory" and the like, for the current errno or the one given.
std::string errno_text(int error);

/// Owns a file descriptor. Move only.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int descriptor) noexcept : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept;
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor();

  [[nodiscard]] int get() const noexcept { return descriptor_; }
  [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }

 private:
  void close() noexcept;

  int descriptor_ = -1;
};

/// A regular file opened for reading. Thread safe: it has no file position.
class InputFile {
 public:
  InputFile() = default;
  /// Throws Error(data) that names the path when it cannot be opened or is no regular file.
  explicit InputFile(std::string path);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Bytes when it was opened.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// Fills `out` from `offset`. Throws Error(data) when the file ends before or cannot be read.
  void read(std::uint64_t offset, std::span<std::byte> out) const;
  /// Fills `first`, then `second`, from `offset` in one system call.
  void read(std::uint64_t offset, std::span<std::byte> first, std::span<std::byte> second) const;

 private:
  std::string path_;
  std::uint64_t size_ = 0;
  FileDescriptor file_;  // after size_, which opening it sets
};

/// Opens `path` for reading. Throws Error(data) as InputFile does; `size` receives the bytes.
/// Allocates nothing unless it throws.
FileDescriptor open_regular(const char* path, std::uint64_t& size);
/// As InputFile::read().
void read_exactly(int descriptor, const char* path, std::uint64_t offset, std::span<std::byte> out);
/// Writes a whole new file. Throws Error(data) that names it.
void write_file(const std::string& path, std::span<const std::byte> bytes);
/// True when something of any kind is at `path`.
bool exists(const std::string& path) noexcept;

}  // namespace cachebisect::stages
