// A data set of an HDF5 file, opened and checked: what read.hdf5 and read.netcdf share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stages/datasets/array_box.hpp"
#include "stages/modules/hdf5_handles.hpp"

#include "cachebisect/data/shape.hpp"
#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect::stages {

/// All but files() is called in an Hdf5Section. Throws Error(data) that names file and data set.
class Hdf5Dataset {
 public:
  static constexpr std::uint64_t kMostChunkBytes = std::uint64_t{1} << 30U;

  /// `word`: what it is called in messages: "data set", "variable".
  Hdf5Dataset(std::string path, std::string name, std::string word);

  /// Opens it, `cache_bytes` for decoded chunks, and refuses what is not in this file.
  void open(std::size_t cache_bytes);
  /// Before the destructor, in a section.
  void close() noexcept;
  /// Once the type is known: the shape, and where chunks are.
  void measure(std::size_t element_bytes);

  [[nodiscard]] hid_t id() const noexcept { return array_.id(); }
  [[nodiscard]] hid_t settings() const noexcept { return settings_.id(); }
  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  /// Writes the elements of `box` as `type`, densely.
  void read(const ArrayBox& box, hid_t type, std::byte* out) const;
  /// Where the elements of `box` are; the whole file if that is not known, and none of its bytes
  /// for missing chunks.
  [[nodiscard]] std::vector<FileRange> files(const ArrayBox& box) const;

  [[noreturn]] void refuse(const std::string& what) const;

 private:
  using Dims = std::array<hsize_t, Shape::kMaxRank>;
  struct Chunk {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;  ///< 0: missing
  };

  void check_storage();
  void check_filters();
  void check_shape();
  void find_chunks();
  [[nodiscard]] Chunk chunk_at(std::uint64_t number) const;

  std::string path_;
  std::string name_;
  std::string word_;
  Hdf5Handle file_;
  Hdf5Handle array_;
  Hdf5Handle settings_;
  Hdf5Handle space_;  ///< in the file; its selection changes within a section
  Shape shape_;
  std::size_t element_bytes_ = 1;
  Dims dims_{};
  Dims chunk_{};
  Dims grid_{};  ///< chunks along each axis
  std::optional<std::uint64_t> contiguous_at_;
  std::vector<Chunk> chunks_;  ///< empty: not known
};

}  // namespace cachebisect::stages
