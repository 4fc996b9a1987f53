// A file or object that is read for long: kept open, or opened for each read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "cachebisect/objects/byte_source.hpp"

namespace cachebisect::stages {

/// Thread safe.
class CACHEBISECT_INTERNAL_API HeldFile {
 public:
  HeldFile() = default;
  /// `keep_open`: until this is destroyed; else it is opened for each read. Objects are kept.
  HeldFile(std::unique_ptr<const ByteSource> bytes, bool keep_open);

  /// A quarter of the files that a process may have open: other jobs of it have files too.
  [[nodiscard]] static std::size_t most_open();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// When it was opened first.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// As object_line() writes it; empty: a file.
  [[nodiscard]] std::string object() const { return bytes_ ? object_line(*bytes_) : ""; }
  /// Fills `first`, then `second`, from `offset`. Throws Error(data) naming the file if it ends too
  /// early, or has another size than before. Allocates nothing unless it throws.
  void read(std::uint64_t offset, std::span<std::byte> first,
            std::span<std::byte> second = {}) const;

 private:
  std::string path_;
  std::uint64_t size_ = 0;
  std::unique_ptr<const ByteSource> bytes_;  ///< null: opened for each read
};

}  // namespace cachebisect::stages
