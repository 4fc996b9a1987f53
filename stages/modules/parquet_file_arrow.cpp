// The module that datasets/parquet_file.hpp opens: with its neighbours the only code that links
// Arrow C++.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stages/datasets/parquet_file.hpp"
#include "stages/modules/parquet_schema.hpp"
#include "stages/modules/parquet_values.hpp"
#include <arrow/io/file.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>
#include <parquet/size_statistics.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/export.hpp"
#include "cachebisect/base/file.hpp"
#include "cachebisect/base/printable.hpp"

namespace cachebisect::stages {
namespace {

/// Runs `work`; what goes wrong becomes an Error(data) that names the file. `what`: is said of what
/// Arrow throws.
template <class Work>
auto naming(const std::string& file, const std::string& what, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw error.with_context(file);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::data, file + ": needs more memory than there is");
  } catch (const std::exception& error) {
    throw Error(ErrorKind::data, file + ": " + what + ": " + printable(error.what()));
  }
}

std::uint64_t checked_count(std::int64_t number) {
  if (number >= 0) return static_cast<std::uint64_t>(number);
  throw Error(ErrorKind::data, "its metadata has negative sizes: it is damaged");
}

ParquetFile::Chunk chunk_of(const parquet::ColumnChunkMetaData& chunk) {
  std::int64_t offset = chunk.data_page_offset();
  if (chunk.has_dictionary_page() && chunk.dictionary_page_offset() > 0)
    offset = std::min(offset, chunk.dictionary_page_offset());
  return {checked_count(offset), checked_count(chunk.total_compressed_size())};
}

/// What its values take once they are decoded, as far as the file says.
std::uint64_t decoded_bytes(const parquet::ColumnChunkMetaData& chunk) {
  const auto sizes = chunk.size_statistics();
  if (sizes && sizes->unencoded_byte_array_data_bytes)
    return checked_count(*sizes->unencoded_byte_array_data_bytes);
  return checked_count(chunk.total_uncompressed_size());
}

class ArrowParquetFile final : public ParquetFile {
 public:
  explicit ArrowParquetFile(const ParquetRequest& request) {
    path_ = request.file;
    bytes_ = InputFile(path_).size();  // names what is no file, and never waits for a FIFO
    naming(path_, "is no whole Parquet file", [&] {
      const auto reader = open();
      metadata_ = reader->metadata();
      image_ = find_parquet_column(*metadata_->schema(), request.image, "image");
      if (!request.label.empty()) {
        label_ = find_parquet_column(*metadata_->schema(), request.label, "label");
        require_parquet_label(*label_);
      }
      facts_.dtype = image_.dtype;
      facts_.is_list = image_.is_list;
      facts_.shape = shape();
      list_groups();
    });
  }

  [[nodiscard]] std::int64_t first_length() const override {
    return naming(path_, "its first row cannot be read", [&] {
      const auto reader = open();
      const auto group = reader->RowGroup(facts_.groups.front().number);
      return first_parquet_length(*group->Column(image_.number), image_);
    });
  }

  void read(const Group& group, const RowBlock& block, std::uint64_t most_bytes,
            std::vector<std::byte>& out) const override {
    const std::string what =
        "the rows from " + std::to_string(group.first_row) + " on cannot be read";
    naming(path_, what, [&] {
      const auto reader = open();
      const auto rows = reader->RowGroup(group.number);
      out.clear();
      out.reserve(std::min(most_bytes, block.least_bytes() + group.value_bytes));
      out.resize(block.least_bytes());
      read_parquet_values(*rows->Column(image_.number), image_, block, group.first_row, most_bytes,
                          out);
      if (block.has_labels())
        read_parquet_labels(*rows->Column(label_->number), *label_, block, group.first_row, out);
    });
  }

 private:
  /// A reader of this thread; the metadata is read once.
  [[nodiscard]] std::unique_ptr<parquet::ParquetFileReader> open() const {
    PARQUET_ASSIGN_OR_THROW(auto file, arrow::io::ReadableFile::Open(path_));
    PARQUET_ASSIGN_OR_THROW(const std::int64_t bytes, file->GetSize());
    if (static_cast<std::uint64_t>(bytes) != bytes_)
      throw Error(ErrorKind::data, "has another size than when it was opened");
    parquet::ReaderProperties properties;
    properties.set_page_checksum_verification(true);
    return parquet::ParquetFileReader::Open(std::move(file), properties, metadata_);
  }

  [[nodiscard]] Shape shape() const {
    if (image_.is_bytes || image_.is_list) return {kDynamic};
    if (image_.byte_count > 0) return {static_cast<std::int64_t>(image_.byte_count)};
    return {};
  }

  void list_groups() {
    std::uint64_t first_row = 0;
    for (int number = 0; number < metadata_->num_row_groups(); ++number) {
      const auto metadata = metadata_->RowGroup(number);
      Group group{.number = number,
                  .first_row = first_row,
                  .rows = checked_count(metadata->num_rows()),
                  .image = {},
                  .label = {}};
      if (group.rows == 0) continue;
      if (group.rows > kMostGroupRows || first_row > kMostRows)
        throw Error(ErrorKind::data, "its metadata claims too many rows: it is damaged");
      const auto image = metadata->ColumnChunk(image_.number);
      group.image = chunk_of(*image);
      if (image_.is_bytes) group.value_bytes = decoded_bytes(*image);
      if (label_) group.label = chunk_of(*metadata->ColumnChunk(label_->number));
      first_row += group.rows;
      facts_.groups.push_back(group);
    }
    if (facts_.groups.empty()) throw Error(ErrorKind::data, "has no rows");
  }

  static constexpr std::uint64_t kMostRows = std::uint64_t{1} << 40U;
  static constexpr std::uint64_t kMostGroupRows = std::uint64_t{1} << 32U;

  std::uint64_t bytes_ = 0;
  std::shared_ptr<parquet::FileMetaData> metadata_;  ///< null until it was read
  ParquetColumn image_;
  std::optional<ParquetColumn> label_;
};

}  // namespace
}  // namespace cachebisect::stages

extern "C" CACHEBISECT_INTERNAL_API cachebisect::stages::ParquetFile* cachebisect_parquet_open(
    const cachebisect::stages::ParquetRequest& request) {
  return std::make_unique<cachebisect::stages::ArrowParquetFile>(request).release();
}
