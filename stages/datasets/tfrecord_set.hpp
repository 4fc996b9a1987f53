// The records of TFRecord files, by one number.
//
//     a record: length (uint64) | masked CRC-32C of it | data | masked CRC-32C of the data
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "stages/datasets/held_file.hpp"

#include "cachebisect/pipeline/open_context.hpp"

namespace cachebisect::stages {

/// Where the data of a record lies.
struct TfRecord {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// Reads the lengths of all records. `on_records(n)` is called now and then: there were n more.
/// Throws Error(data) naming the file and the byte if it is damaged, cut short or compressed, has a
/// record above 1 GiB, or none.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<TfRecord> index_tfrecords(
    const ByteSource& file, const std::function<void(std::uint64_t)>& on_records);

/// One file; those of a folder in natural order (*.tfrecord, *.tfrecords, *.tfrec, and what ends
/// like train-00000-of-00010), without hidden ones; or those of a pattern (see expand_pattern()).
/// Throws Error(data) if there are none, Error(usage) for a pattern of too many, or an address of a
/// server.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<std::string> tfrecord_paths(
    const std::string& path);

/// Thread safe.
class CACHEBISECT_INTERNAL_API TfRecordSet {
 public:
  /// In its file.
  struct Place {
    const HeldFile* file = nullptr;
    TfRecord record;
    std::uint64_t number = 0;
  };
  /// Behind the data of a record: its check sum.
  static constexpr std::size_t kTailBytes = 4;

  /// Indexes the files at `path`, several at once. Throws as the above do, and Error(interrupted)
  /// when the context's stop is requested.
  TfRecordSet(const std::string& path, const OpenContext& context);

  [[nodiscard]] std::uint64_t size() const noexcept { return ends_.back(); }
  /// Throws Error(internal) if there is no such record.
  [[nodiscard]] Place locate(std::uint64_t index) const;
  /// Fills `stored`, of kTailBytes more than the record, and returns the data in it. Throws
  /// Error(data) naming the file and the record if it is damaged.
  static std::span<const std::byte> read(const Place& place, std::span<std::byte> stored);

 private:
  struct File {
    HeldFile file;
    std::vector<TfRecord> records;
  };
  std::vector<File> files_;
  std::vector<std::uint64_t> ends_;  ///< records up to the end of each file
};

}  // namespace cachebisect::stages
