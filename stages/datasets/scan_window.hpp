// The part of a file that a scan of its headers, from the front to the end, has just read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cachebisect/objects/byte_source.hpp"

namespace cachebisect::stages {

/// From a file, holds most headers of a small sample, so that they cost one read. From a server,
/// which takes as long for many bytes as for few, reads what lies between headers if that is less
/// than about a request takes, and passes over it if it is more. One thread at a time.
class ScanWindow {
 public:
  /// Holds so many bytes at least, where the file has them.
  static constexpr std::size_t kLeastBytes = 4096;

  /// `file` must outlive it.
  explicit ScanWindow(const ByteSource& file);

  /// `bytes`, at most kLeastBytes, of the file, which has them; valid until the next call.
  [[nodiscard]] std::span<const std::byte> at(std::uint64_t offset, std::size_t bytes);

 private:
  void fill(std::uint64_t offset);

  const ByteSource* file_;
  std::vector<std::byte> bytes_;
  std::uint64_t begin_ = 0;
  std::size_t wanted_;  ///< bytes of the next fill
};

}  // namespace cachebisect::stages
