// Regular files, read whole or by range: never blocks on a FIFO, never crashes if a file shrinks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/export.hpp"
#include "cachebisect/base/file_descriptor.hpp"

namespace cachebisect {

/// A regular file opened for reading. Thread safe: it has no file position.
class CACHEBISECT_INTERNAL_API InputFile {
 public:
  InputFile() = default;
  /// Throws Error(data) naming the path if it cannot be opened or is not a regular file.
  explicit InputFile(std::string path);

  /// Opens the file once more for each core, up to 16 times: threads that read small pieces by one
  /// descriptor wait for each other, as the kernel counts its users. Where descriptors are few,
  /// they share it. Not thread safe.
  void open_per_core();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Bytes at the time of opening.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// Fills `out` from `offset`. Throws Error(data) if the file ends too early or cannot be read.
  void read(std::uint64_t offset, std::span<std::byte> out) const;
  /// Fills `first`, then `second`, from `offset` in one system call.
  void read(std::uint64_t offset, std::span<std::byte> first, std::span<std::byte> second) const;

 private:
  /// That of this core.
  [[nodiscard]] int descriptor() const noexcept;

  std::string path_;
  std::uint64_t size_ = 0;
  FileDescriptor file_;  // after size_, which opening it sets
  std::vector<FileDescriptor> per_core_;
};

/// Opens `path` for reading and stores its bytes in `size`. Throws Error(data) as InputFile does.
/// Allocates nothing unless it throws.
CACHEBISECT_INTERNAL_API FileDescriptor open_regular(const char* path, std::uint64_t& size);
/// As InputFile::read().
CACHEBISECT_INTERNAL_API void read_exactly(int descriptor, const char* path, std::uint64_t offset,
                                           std::span<std::byte> out);
/// A new file, written from its beginning to its end. Throws an Error of this kind that names it.
class CACHEBISECT_INTERNAL_API NewFile {
 public:
  explicit NewFile(std::string path, ErrorKind kind = ErrorKind::data);
  void append(std::span<const std::byte> bytes);
  /// Waits until all is on the disk. Nothing may be appended afterwards.
  void close();

 private:
  [[noreturn]] void fail(const std::string& what) const;

  std::string path_;
  ErrorKind kind_;
  FileDescriptor file_;
};

/// Writes a whole new file, as NewFile does.
CACHEBISECT_INTERNAL_API void write_file(const std::string& path, std::span<const std::byte> bytes);
/// A new file under a temporary name of this process: what `path` names is whole, or what it was
/// before. Removed unless it is published. Throws Error(output) naming it.
class CACHEBISECT_INTERNAL_API PartialFile {
 public:
  explicit PartialFile(std::string path);
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  ~PartialFile();

  void append(std::span<const std::byte> bytes) { file_.append(bytes); }
  /// Waits until all is on the disk, and gives the file its own name.
  void publish();
  /// Whether this is the temporary name of such a file.
  [[nodiscard]] static bool has_name(std::string_view name) noexcept;

 private:
  std::string path_;
  std::string partial_;
  NewFile file_;
  bool published_ = false;
};

/// Writes a whole file in place of what is at `path`, as PartialFile does.
CACHEBISECT_INTERNAL_API void replace_file(const std::string& path,
                                           std::span<const std::byte> bytes);
/// True if anything exists at `path`.
CACHEBISECT_INTERNAL_API bool exists(const std::string& path) noexcept;

}  // namespace cachebisect
