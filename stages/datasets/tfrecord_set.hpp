// The records of TFRecord files, by one number.
//
//     a record: length (uint64) | masked CRC-32C of it | data | masked CRC-32C of the data
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stages/datasets/held_file.hpp"
#include "stages/datasets/unpacker.hpp"

#include "cachebisect/objects/remote_store.hpp"
#include "cachebisect/pipeline/open_context.hpp"

namespace cachebisect::stages {

/// Where the data of a record lies.
struct TfRecord {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// Reads the lengths of all records. `on_records(n)` is called now and then: there were n more.
/// Throws Error(data) naming the file and the byte if it is damaged or cut short, has a record
/// above 1 GiB, or none.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<TfRecord> index_tfrecords(
    const ByteSource& file, const std::function<void(std::uint64_t)>& on_records);

/// See data_file_paths(): *.tfrecord, *.tfrecords, *.tfrec, and what ends like
/// train-00000-of-00010.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<std::string> tfrecord_paths(
    const std::string& path);

struct TfRecordSetOptions {
  std::string path;                 ///< see tfrecord_paths(), object_paths()
  std::uint64_t most_unpacked = 0;  ///< bytes of a compressed file; 0: none may be compressed
  std::shared_ptr<const RemoteStore> store{};  ///< of objects on a server; null: files
};

/// Thread safe.
class CACHEBISECT_INTERNAL_API TfRecordSet {
 public:
  /// In its file.
  struct Place {
    const HeldFile* file = nullptr;
    TfRecord record;
    std::uint64_t number = 0;
    std::size_t file_number = 0;
  };
  /// Behind the data of a record: its check sum.
  static constexpr std::size_t kTailBytes = 4;

  /// Indexes the files, several at once; compressed ones are unpacked for that, at most four at
  /// once. Throws as the above and unpack() do, and Error(interrupted) when the context's stop is
  /// requested.
  TfRecordSet(const TfRecordSetOptions& options, const OpenContext& context);

  [[nodiscard]] std::uint64_t size() const noexcept { return ends_.back(); }
  /// Where they lie, if not in files; else null.
  [[nodiscard]] const std::shared_ptr<const RemoteStore>& store() const noexcept { return store_; }
  /// The objects that lie there, one per line.
  [[nodiscard]] std::string objects() const;
  /// Throws Error(internal) if there is no such record.
  [[nodiscard]] Place locate(std::uint64_t index) const;
  /// Fills `stored`, of kTailBytes more than the record, and returns the data in it. Throws
  /// Error(data) naming the file and the record if it is damaged.
  static std::span<const std::byte> read(const Place& place, std::span<std::byte> stored);
  /// The same of bytes that were read.
  static std::span<const std::byte> checked(const Place& place, std::span<const std::byte> stored);

  /// Whether a file is compressed: then files are read as a whole.
  [[nodiscard]] bool is_packed() const noexcept { return is_packed_; }
  [[nodiscard]] std::size_t files() const noexcept { return files_.size(); }
  [[nodiscard]] const std::string& path(std::size_t file) const { return files_[file].file.path(); }
  [[nodiscard]] std::uint64_t records(std::size_t file) const {
    return files_[file].records.size();
  }
  /// The size of what a file unpacks to.
  [[nodiscard]] std::uint64_t bytes(std::size_t file) const { return files_[file].bytes; }
  [[nodiscard]] std::uint64_t stored_bytes(std::size_t file) const {
    return files_[file].file.size();
  }
  /// Replaces `whole` by the content of a file. Throws as unpack_into() does.
  void read_whole(std::size_t file, std::vector<std::byte>& whole) const;

 private:
  struct File {
    HeldFile file;
    Packing packing = Packing::none;
    std::uint64_t bytes = 0;
    std::vector<TfRecord> records;
  };
  std::shared_ptr<const RemoteStore> store_;
  std::vector<File> files_;
  bool is_packed_ = false;
  std::vector<std::uint64_t> ends_;  ///< records up to the end of each file
};

}  // namespace cachebisect::stages
