// Data sets of HDF5 files. libhdf5 loads thirty libraries, so it is in a module that the first such
// pipeline opens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cachebisect/data/dtype.hpp"
#include "cachebisect/data/shape.hpp"
#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect::stages {

/// A data set of an HDF5 file that was opened for reading. Thread safe, but libhdf5 runs one call
/// at a time in the whole process: reading does not scale with threads.
class Hdf5Array {
 public:
  struct Facts {
    DType dtype = DType::uint8;
    Shape shape;  ///< one to six axes, nothing is empty; an item has at most kMostItemBytes
  };
  static constexpr std::uint64_t kMostItemBytes = std::uint64_t{1} << 30U;

  Hdf5Array() = default;
  Hdf5Array(const Hdf5Array&) = delete;
  Hdf5Array& operator=(const Hdf5Array&) = delete;
  virtual ~Hdf5Array() = default;

  [[nodiscard]] const Facts& facts() const noexcept { return facts_; }
  /// Writes items along the first axis to `out`, densely and in this machine's byte order. Returns
  /// the seconds during which no other thread could read. Throws Error(data) that names the file.
  virtual double read(std::uint64_t first, std::uint64_t count, std::byte* out) const = 0;
  /// Where an item is; the whole file if that is not known, and none of its bytes for missing
  /// chunks.
  [[nodiscard]] virtual std::vector<FileRange> files(std::uint64_t index) const = 0;

 protected:
  Facts facts_;
};

/// The module's only function, `cachebisect_hdf5_open`. The caller owns what it returns.
using OpenHdf5 = Hdf5Array* (*)(const std::string& file, const std::string& name,
                                std::size_t cache_bytes);

/// `name`: of the data set in the file: "train/images". `cache_bytes`: of chunks that libhdf5 keeps
/// for it. Throws Error(data) that names the file for what is missing, damaged or cannot be read;
/// Error(usage) with the remedy if this build has no libhdf5.
[[nodiscard]] std::unique_ptr<Hdf5Array> open_hdf5(const std::string& file, const std::string& name,
                                                   std::size_t cache_bytes);

}  // namespace cachebisect::stages
