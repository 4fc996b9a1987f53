// The module that datasets/parquet_file.hpp opens: with its neighbours the only code that links
// Arrow C++.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stages/datasets/parquet_file.hpp"
#include "stages/modules/limited_pool.hpp"
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

/// `file_bytes`: what the file has.
ParquetFile::Chunk chunk_of(const parquet::ColumnChunkMetaData& metadata,
                            std::uint64_t file_bytes) {
  std::int64_t offset = metadata.data_page_offset();
  if (metadata.has_dictionary_page() && metadata.dictionary_page_offset() > 0)
    offset = std::min(offset, metadata.dictionary_page_offset());
  const ParquetFile::Chunk chunk{checked_count(offset),
                                 checked_count(metadata.total_compressed_size())};
  if (chunk.offset > file_bytes || chunk.bytes > file_bytes - chunk.offset)
    throw Error(ErrorKind::data, "its metadata names bytes beyond its end: it is damaged");
  return chunk;
}

/// The bytes of the metadata at the end of the file, as its last bytes say.
std::uint64_t metadata_bytes(const InputFile& file) {
  constexpr std::uint64_t kEnd = 8;  // their number, and "PAR1"
  std::array<std::uint8_t, kEnd> end{};
  if (file.size() < kEnd) return 0;
  file.read(file.size() - kEnd, std::as_writable_bytes(std::span(end)));
  std::uint64_t bytes = 0;
  for (const std::size_t i : {3, 2, 1, 0}) bytes = bytes << 8U | end[i];
  return bytes;
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
    const InputFile file(path_);  // names what is no file, and never waits for a FIFO
    bytes_ = file.size();
    metadata_bytes_ = metadata_bytes(file);
    naming(path_, "is no whole Parquet file", [&] {
      LimitedPool pool(static_cast<std::int64_t>(kMoreBytes + 2 * metadata_bytes_));
      const auto reader = open(pool);
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
      LimitedPool pool(most_page_bytes(facts_.groups.front(), kMostFirstBytes));
      const auto reader = open(pool);
      const auto group = reader->RowGroup(facts_.groups.front().number);
      return first_parquet_length(*group->Column(image_.number), image_);
    });
  }

  void read(const Group& group, const RowBlock& block, std::uint64_t most_bytes,
            std::vector<std::byte>& out) const override {
    const std::string what =
        "the rows from " + std::to_string(group.first_row) + " on cannot be read";
    naming(path_, what, [&] {
      const std::uint64_t likely = std::min(most_bytes, block.least_bytes() + group.value_bytes);
      LimitedPool pool(most_page_bytes(group, likely));
      const auto reader = open(pool);
      const auto rows = reader->RowGroup(group.number);
      out.clear();
      out.reserve(likely);
      out.resize(block.least_bytes());
      read_parquet_values(*rows->Column(image_.number), image_, block, group.first_row, most_bytes,
                          out);
      if (block.has_labels())
        read_parquet_labels(*rows->Column(label_->number), *label_, block, group.first_row, out);
    });
  }

 private:
  /// What Arrow may take to decode a group of which `values` bytes are made: its pages as they are
  /// stored, and decoded. There, a number of one byte has four, and a dictionary is kept twice.
  static std::int64_t most_page_bytes(const Group& group, std::uint64_t values) {
    constexpr std::uint64_t kTimes = 8;
    return static_cast<std::int64_t>(std::max(group.image.bytes, group.label.bytes) +
                                     kTimes * values + kMoreBytes);
  }

  /// A reader of this thread; the metadata is read once.
  [[nodiscard]] std::unique_ptr<parquet::ParquetFileReader> open(arrow::MemoryPool& pool) const {
    PARQUET_ASSIGN_OR_THROW(auto file, arrow::io::ReadableFile::Open(path_, &pool));
    PARQUET_ASSIGN_OR_THROW(const std::int64_t bytes, file->GetSize());
    if (static_cast<std::uint64_t>(bytes) != bytes_)
      throw Error(ErrorKind::data, "has another size than when it was opened");
    parquet::ReaderProperties properties(&pool);
    properties.set_page_checksum_verification(true);
    properties.set_thrift_container_size_limit(most_elements());
    properties.set_thrift_string_size_limit(static_cast<std::int32_t>(
        std::min<std::uint64_t>(parquet::kDefaultThriftStringSizeLimit, bytes_)));
    return parquet::ParquetFileReader::Open(std::move(file), properties, metadata_);
  }

  /// Of a list in the metadata. Room for it is made before its elements are read; those of long
  /// lists have three bytes or more.
  [[nodiscard]] std::int32_t most_elements() const {
    constexpr std::uint64_t kLeastBytes = 3;
    constexpr std::uint64_t kOfShortList = 1024;
    constexpr std::uint64_t kMost = parquet::kDefaultThriftContainerSizeLimit;
    return static_cast<std::int32_t>(
        std::clamp(metadata_bytes_ / kLeastBytes, kOfShortList, kMost));
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
      group.image = chunk_of(*image, bytes_);
      if (image_.is_bytes) group.value_bytes = decoded_bytes(*image);
      if (label_) group.label = chunk_of(*metadata->ColumnChunk(label_->number), bytes_);
      first_row += group.rows;
      facts_.groups.push_back(group);
    }
    if (facts_.groups.empty()) throw Error(ErrorKind::data, "has no rows");
  }

  static constexpr std::uint64_t kMostRows = std::uint64_t{1} << 40U;
  static constexpr std::uint64_t kMostGroupRows = std::uint64_t{1} << 32U;

  static constexpr std::uint64_t kMostFirstBytes = std::uint64_t{1} << 27U;  ///< of a first row
  static constexpr std::uint64_t kMoreBytes = std::uint64_t{16} << 20U;

  std::uint64_t bytes_ = 0;
  std::uint64_t metadata_bytes_ = 0;
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
