// The IDX format of MNIST (http://yann.lecun.com/exdb/mnist): big-endian magic number, dimensions,
// then the elements.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stages/datasets/gzip.hpp"
#include "stages/datasets/held_bytes.hpp"

#include "cachebisect/base/file.hpp"

namespace cachebisect::stages {

/// An IDX file of unsigned bytes: a plain file is read by range or held in memory, a gzip file is
/// held in memory.
class IdxFile {
 public:
  /// Reads the header of `path`, which must have `rank` dimensions (1..3). A plain file must have
  /// exactly the size that its header declares; a gzip file must be able to. `hold`: a plain file
  /// is held in memory too. Throws Error(data).
  IdxFile(const std::string& path, std::size_t rank, bool hold);
  /// Brings a file that is held into memory; call it before read(), once the dimensions are known
  /// to be right. A gzip file must have exactly the size that its header declares. Throws
  /// Error(data), Error(usage) if there is no room for it, and Error(interrupted) if `context` asks
  /// to stop.
  void load(const OpenContext& context);

  /// The size of dimension `axis`; axis 0 counts the items.
  [[nodiscard]] std::uint64_t dim(std::size_t axis) const noexcept { return dims_.at(axis); }
  [[nodiscard]] std::uint64_t items() const noexcept { return dims_[0]; }
  [[nodiscard]] std::uint64_t item_bytes() const noexcept { return dims_[1] * dims_[2]; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Whether items are served from memory.
  [[nodiscard]] bool in_memory() const noexcept { return in_memory_; }
  /// Where item `index` begins in the file.
  [[nodiscard]] std::uint64_t offset(std::uint64_t index) const noexcept {
    return header_bytes_ + index * item_bytes();
  }
  /// The bytes of item `index`, of a file that is held. Thread safe after load().
  [[nodiscard]] std::span<const std::byte> held(std::uint64_t index) const noexcept {
    return content_.bytes().subspan(content_begin_ + index * item_bytes(), item_bytes());
  }
  /// Fills `out` with items from `index` on. Throws Error(data). Thread safe after load().
  void read(std::uint64_t index, std::span<std::byte> out) const;

 private:
  [[nodiscard]] std::uint64_t elements() const noexcept { return items() * item_bytes(); }
  [[nodiscard]] std::string shape() const;
  void check_size() const;
  void check_room() const;
  [[noreturn]] void fail(const std::string& what) const;

  std::string path_;
  std::size_t rank_;
  bool in_memory_;
  InputFile file_;                    // plain
  std::unique_ptr<GzipReader> gzip_;  // until it is loaded
  HugePageBuffer content_;            // of a file that is held
  std::uint64_t content_begin_ = 0;   // where its elements begin
  std::array<std::uint64_t, 3> dims_{1, 1, 1};
  std::uint64_t header_bytes_ = 0;
};

/// The header of an IDX file of unsigned bytes with these dimensions.
std::vector<std::byte> idx_header(std::span<const std::uint32_t> dims);

}  // namespace cachebisect::stages
