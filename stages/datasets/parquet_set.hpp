// The rows of Parquet files, by one number, in row groups that are read as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stages/datasets/parquet_file.hpp"

#include "cachebisect/data/dtype.hpp"
#include "cachebisect/data/shape.hpp"
#include "cachebisect/pipeline/open_context.hpp"
#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect::stages {

struct ParquetColumns {
  std::string image;
  std::string label;  ///< empty: none
};

/// What the rows of all files have in common.
struct ParquetRow {
  DType dtype = DType::uint8;
  Shape shape;  ///< kDynamic: bytes of any length

  /// What the values of each row take; 0: their lengths differ.
  [[nodiscard]] std::uint64_t value_bytes() const noexcept;
};

/// Thread safe.
class ParquetSet {
 public:
  struct Place {
    std::size_t group = 0;
    std::uint64_t row = 0;  ///< in the group
  };

  /// A row of the first file at `path`, which is all that is opened. Throws as the constructor
  /// does.
  [[nodiscard]] static ParquetRow look_at(const std::string& path, const ParquetColumns& columns);

  /// Reads the metadata of all files at `path` (see data_file_paths(): *.parquet), several at once.
  /// Throws Error(data) if a file is damaged or has other rows than the first, Error(usage) if this
  /// build has no Arrow, Error(interrupted) when the context's stop is requested.
  ParquetSet(const std::string& path, ParquetColumns columns, const OpenContext& context);

  [[nodiscard]] std::uint64_t size() const noexcept { return ends_.back(); }
  [[nodiscard]] std::size_t groups() const noexcept { return groups_.size(); }
  /// Throws Error(internal) if there is no such row.
  [[nodiscard]] Place locate(std::uint64_t index) const;
  [[nodiscard]] RowBlock block(std::size_t group) const;
  [[nodiscard]] const std::string& path(std::size_t group) const;
  /// Decoded, as far as the file says.
  [[nodiscard]] std::uint64_t bytes(std::size_t group) const;
  /// As stored.
  [[nodiscard]] std::uint64_t stored_bytes(std::size_t group) const;
  /// As ParquetFile::read().
  void read(std::size_t group, std::uint64_t most_bytes, std::vector<std::byte>& out) const;
  /// A group is read for all of its rows, each of which has an equal part.
  [[nodiscard]] std::vector<FileRange> files(const Place& place) const;

 private:
  struct Group {
    const ParquetFile* file = nullptr;
    const ParquetFile::Group* facts = nullptr;
  };

  ParquetRow row_;
  bool has_labels_ = false;
  std::vector<std::unique_ptr<const ParquetFile>> files_;
  std::vector<Group> groups_;
  std::vector<std::uint64_t> ends_;  ///< rows up to the end of each group
};

}  // namespace cachebisect::stages
