// The IDX format of MNIST (http://yann.lecun.com/exdb/mnist): big-endian magic number, dimensions,
// then the elements.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stages/datasets/file.hpp"

namespace cachebisect::stages {

/// An IDX file of unsigned bytes: a plain file is read by range, a gzip file is held in memory.
class IdxFile {
 public:
  /// Opens `path`, which must have `rank` dimensions (1..3) and exactly the size that its header
  /// declares. Throws Error(data).
  IdxFile(const std::string& path, std::size_t rank);

  /// The size of dimension `axis`; axis 0 counts the items.
  [[nodiscard]] std::uint64_t dim(std::size_t axis) const noexcept { return dims_.at(axis); }
  [[nodiscard]] std::uint64_t items() const noexcept { return dims_[0]; }
  [[nodiscard]] std::uint64_t item_bytes() const noexcept { return dims_[1] * dims_[2]; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Whether items are served from memory (gzip).
  [[nodiscard]] bool in_memory() const noexcept { return !content_.empty(); }
  /// Where item `index` begins in the file.
  [[nodiscard]] std::uint64_t offset(std::uint64_t index) const noexcept {
    return header_bytes_ + index * item_bytes();
  }
  /// Fills `out` with items from `index` on. Throws Error(data). Thread safe.
  void read(std::uint64_t index, std::span<std::byte> out) const;

 private:
  std::string path_;
  InputFile file_;
  std::vector<std::byte> content_;
  std::array<std::uint64_t, 3> dims_{1, 1, 1};
  std::uint64_t header_bytes_ = 0;
};

/// The header of an IDX file of unsigned bytes with these dimensions.
std::vector<std::byte> idx_header(std::span<const std::uint32_t> dims);

}  // namespace cachebisect::stages
