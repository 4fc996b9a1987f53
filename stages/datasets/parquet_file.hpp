// Row groups of Parquet files. Arrow C++ is large, so it is in a module that the first such
// pipeline opens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stages/datasets/row_block.hpp"

#include "cachebisect/data/dtype.hpp"
#include "cachebisect/data/shape.hpp"

namespace cachebisect::stages {

/// The columns are named by their paths in the schema: "label", "image.bytes". "image" alone stands
/// for its only part, or for its part "bytes".
struct ParquetRequest {
  std::string file;
  std::string image;
  std::string label;  ///< empty: none is read
};

/// A file whose metadata was read. Thread safe.
class ParquetFile {
 public:
  /// Bytes of a column in a row group.
  struct Chunk {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };
  struct Group {
    int number = 0;               ///< in the file
    std::uint64_t first_row = 0;  ///< in the file
    std::uint64_t rows = 0;       ///< 1 to 2^32
    /// What all rows together take once they are decoded, if their lengths differ; as the file
    /// says.
    std::uint64_t value_bytes = 0;
    Chunk image;
    Chunk label;
  };
  struct Facts {
    DType dtype = DType::uint8;
    /// The axes of a row: none, or one, kDynamic where lengths differ or lists decide.
    Shape shape;
    bool is_list = false;  ///< of numbers; all have the length of the first
    std::vector<Group> groups;
  };

  ParquetFile() = default;
  ParquetFile(const ParquetFile&) = delete;
  ParquetFile& operator=(const ParquetFile&) = delete;
  virtual ~ParquetFile() = default;

  [[nodiscard]] const Facts& facts() const noexcept { return facts_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Reads how many numbers the first list has.
  [[nodiscard]] virtual std::int64_t first_length() const = 0;
  /// Replaces `out` by the rows of a group, laid out as `block` says. `most_bytes`: at least
  /// block.least_bytes(). Throws Error(data) that names the file and the row if it is damaged, if a
  /// row has no value or a list of another length, or if the rows need more than `most_bytes`.
  virtual void read(const Group& group, const RowBlock& block, std::uint64_t most_bytes,
                    std::vector<std::byte>& out) const = 0;

 protected:
  std::string path_;
  Facts facts_;
};

/// The module's only function, `cachebisect_parquet_open`. The caller owns what it returns.
using OpenParquet = ParquetFile* (*)(const ParquetRequest& request);

/// Throws Error(data) that names the file if it is damaged, has no rows, or no such columns;
/// Error(usage) with the remedy if this build has no Arrow.
[[nodiscard]] std::unique_ptr<ParquetFile> open_parquet(const ParquetRequest& request);

}  // namespace cachebisect::stages
