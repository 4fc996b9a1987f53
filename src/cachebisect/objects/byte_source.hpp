// Bytes at a path, read by ranges: a file, or an object on a server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

class RemoteStore;

/// Opened for reading. Thread safe: it has no position.
class CACHEBISECT_INTERNAL_API ByteSource {
 public:
  virtual ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// As messages name it: without what may be secret.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Bytes at the time of opening.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// Each read takes the time of a request, so that many bytes cost as much as few.
  [[nodiscard]] virtual bool is_remote() const noexcept = 0;
  /// Changes when the object does; empty: that of a file, or not known.
  [[nodiscard]] virtual std::string tag() const { return {}; }
  /// Fills `out` from `offset`. Throws Error(data) naming the path if it ends too early or cannot
  /// be read, Error(interrupted) if a stop ends a read from a server.
  void read(std::uint64_t offset, std::span<std::byte> out) const { read(offset, out, {}); }
  /// Fills `first`, then `second`, from `offset` in one read.
  virtual void read(std::uint64_t offset, std::span<std::byte> first,
                    std::span<std::byte> second) const = 0;

 protected:
  ByteSource(std::string path, std::uint64_t size) : path_(std::move(path)), size_(size) {}

 private:
  std::string path_;
  std::uint64_t size_;
};

/// What tells an object of a server from others, in a line: its name, size and tag. Empty: a file.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string object_line(const ByteSource& source);

/// Whether a path is that of an object on a server: http://, https:// or s3://.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool is_remote_path(std::string_view path) noexcept;

/// As messages name it: a URL without what may be secret.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string shown_path(const std::string& path);

/// Throws Error(data) naming the path if it cannot be opened.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::unique_ptr<const ByteSource> open_file(
    const std::string& path);
/// A file, or an object of `store`, which may be null if the path is that of a file. Throws as
/// open_file() and RemoteStore::open() do.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::unique_ptr<const ByteSource> open_bytes(
    const std::string& path, const std::shared_ptr<const RemoteStore>& store);

}  // namespace cachebisect
