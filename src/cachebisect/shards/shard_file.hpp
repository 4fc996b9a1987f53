// One file of records, with an index at its end.
//
//     "CBSHARD1" | records | index: an entry of 24 bytes per record | footer of 56 bytes
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cachebisect/base/file.hpp"
#include "cachebisect/objects/byte_source.hpp"

namespace cachebisect::shards {

/// A larger record, which no sample needs, is refused where it is written and where it is read.
inline constexpr std::size_t kMostRecordBytes = std::size_t{1} << 30U;

/// Where a record lies, as the file has it.
struct ShardEntry {
  std::uint64_t offset = 0;
  std::uint32_t stored_bytes = 0;
  std::uint32_t record_bytes = 0;  ///< once it is expanded
  std::uint64_t checksum = 0;      ///< of what is stored
};

/// Which samples of the source a shard is made of: some may be left out.
struct ShardOrigin {
  std::uint64_t set = 0;  ///< a digest of what the whole set is of
  std::uint64_t first_sample = 0;
  std::uint64_t end_sample = 0;  ///< behind the last one

  friend bool operator==(const ShardOrigin&, const ShardOrigin&) = default;
};

/// XXH3, 64 bits.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::uint64_t checksum(std::span<const std::byte> bytes);

/// Writes a shard under a temporary name; close() gives it its own. What is not closed is removed.
class CACHEBISECT_INTERNAL_API ShardWriter {
 public:
  /// Throws Error(output) naming the file if it cannot be made.
  explicit ShardWriter(const std::string& path);

  /// Throws Error(output) naming the file, Error(data) for a record above kMostRecordBytes.
  void append(std::span<const std::byte> stored, std::size_t record_bytes);
  /// Writes the index, waits until all is on the disk, and renames the file. Returns the checksum
  /// of the index, which covers those of all records. Throws Error(output).
  std::uint64_t close(const ShardOrigin& origin);

  [[nodiscard]] std::uint64_t bytes() const noexcept { return offset_; }
  [[nodiscard]] std::uint64_t records() const noexcept { return index_.size(); }

 private:
  PartialFile file_;
  std::uint64_t offset_;
  std::vector<ShardEntry> index_;
};

/// A shard opened for reading. Thread safe.
class CACHEBISECT_INTERNAL_API ShardFile {
 public:
  static constexpr std::uint64_t kFirstRecord = 8;  ///< the byte at which it begins

  /// Reads the index. Throws Error(data) naming the file if it is no whole shard.
  explicit ShardFile(std::unique_ptr<const ByteSource> file);
  explicit ShardFile(const std::string& path) : ShardFile(open_file(path)) {}

  [[nodiscard]] const ByteSource& file() const noexcept { return *file_; }
  [[nodiscard]] const ShardOrigin& origin() const noexcept { return origin_; }
  [[nodiscard]] std::uint64_t records() const noexcept { return index_.size(); }
  [[nodiscard]] const ShardEntry& entry(std::uint64_t record) const { return index_.at(record); }
  /// The byte behind the last record.
  [[nodiscard]] std::uint64_t records_end() const noexcept;
  [[nodiscard]] std::uint64_t index_checksum() const noexcept { return index_checksum_; }
  /// Fills `stored`, whose size is that of the entry. Throws Error(data) naming the file if it
  /// cannot be read, or if that is not what was written.
  void read(std::uint64_t record, std::span<std::byte> stored) const;
  /// Throws Error(data) naming the file if `stored` is not what was written.
  void check(std::uint64_t record, std::span<const std::byte> stored) const;

 private:
  void read_index();
  void check_index() const;
  [[noreturn]] void refuse(const std::string& what) const;

  std::unique_ptr<const ByteSource> file_;
  ShardOrigin origin_;
  std::vector<ShardEntry> index_;
  std::uint64_t index_checksum_ = 0;
};

}  // namespace cachebisect::shards
