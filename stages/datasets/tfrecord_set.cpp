#include "stages/datasets/tfrecord_set.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <string_view>
#include <utility>

#include "stages/codecs/byte_reader.hpp"
#include "stages/datasets/data_files.hpp"
#include "stages/datasets/object_paths.hpp"
#include "stages/datasets/scan_window.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/file.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/parallel.hpp"
#include "cachebisect/base/shell_word.hpp"
#include "cachebisect/data/sample_place.hpp"
#include "cachebisect/format/crc32c.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::size_t kHeadBytes = 12;
constexpr std::uint64_t kMostTfRecordBytes = std::uint64_t{1} << 30U;
constexpr std::uint64_t kRecordsAtOnce = 16'384;

std::uint32_t little_endian(std::span<const std::byte> bytes, std::size_t offset) {
  return read_unsigned<4>(bytes, offset, ByteOrder::little).value_or(0);
}

/// The sum of `bytes` as the format stores it: of data that itself has sums, it would otherwise be
/// weak.
std::uint32_t masked_sum(std::span<const std::byte> bytes) noexcept {
  constexpr std::uint32_t kDelta = 0xa282ead8;
  const std::uint32_t sum = crc32c({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return (sum >> 15U | sum << 17U) + kDelta;
}

class TfRecordIndexer {
 public:
  explicit TfRecordIndexer(const ByteSource& file) : file_(&file), window_(file) {}

  [[nodiscard]] bool at_end() const noexcept { return at_ == file_->size(); }
  TfRecord next() {
    const std::uint64_t left = file_->size() - at_;
    if (left < kHeadBytes) refuse_end();
    const auto head = window_.at(at_, kHeadBytes);
    const std::uint64_t bytes = little_endian(head, 0) | std::uint64_t{little_endian(head, 4)}
                                                             << 32U;
    if (masked_sum(head.first(8)) != little_endian(head, 8)) refuse_head(head);
    if (bytes > kMostTfRecordBytes) {
      refuse("a record of " + std::to_string(bytes) + " bytes, more than one may have (1 GiB)");
    }
    if (bytes + TfRecordSet::kTailBytes > left - kHeadBytes) refuse_end();
    const TfRecord record{.offset = at_ + kHeadBytes, .bytes = bytes};
    at_ = record.offset + bytes + TfRecordSet::kTailBytes;
    return record;
  }

 private:
  [[noreturn]] void refuse_head(std::span<const std::byte> head) const {
    const bool is_gzip = head[0] == std::byte{0x1f} && head[1] == std::byte{0x8b};
    if (at_ == 0 && is_gzip && file_->is_remote()) {
      throw Error(ErrorKind::data,
                  file_->path() +
                      ": is compressed with gzip, and objects of servers are not unpacked; store "
                      "it unpacked");
    }
    if (at_ == 0) {
      throw Error(ErrorKind::data,
                  file_->path() +
                      ": is no TFRecord file: the check sum of its first length is "
                      "wrong");
    }
    refuse("a length whose check sum is wrong: the file is damaged; write or copy it again");
  }

  [[noreturn]] void refuse_end() const {
    refuse("a record that ends behind the file's " + std::to_string(file_->size()) +
           " bytes: it is cut short; write or copy it again");
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorKind::data,
                file_->path() + ": has, at byte " + std::to_string(at_) + ", " + what);
  }

  const ByteSource* file_;
  std::uint64_t at_ = 0;  ///< of the next record
  ScanWindow window_;
};

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// "train-00000-of-00010"
bool is_numbered_part(std::string_view name) {
  const std::size_t of = name.rfind("-of-");
  if (of == std::string_view::npos || !is_digits(name.substr(of + 4))) return false;
  const std::size_t dash = name.rfind('-', of - 1);
  return of > 0 && dash != std::string_view::npos &&
         is_digits(name.substr(dash + 1, of - dash - 1));
}

bool is_tfrecord_name(std::string_view name) {
  constexpr std::array<std::string_view, 3> kEnds{".tfrecord", ".tfrecords", ".tfrec"};
  return is_numbered_part(name) ||
         std::ranges::any_of(kEnds, [&](std::string_view end) { return name.ends_with(end); });
}

bool is_packed_tfrecord_name(std::string_view name) {
  constexpr std::string_view kGzip = ".gz";
  return name.ends_with(kGzip) && is_tfrecord_name(name.substr(0, name.size() - kGzip.size()));
}

constexpr DataFileKind kTfRecordFiles{.name = "TFRecord",
                                      .names = "*.tfrecord, *.tfrecords, *.tfrec, *-00000-of-00010",
                                      .is_one = is_tfrecord_name,
                                      .pattern = "train-{00000..00099}-of-00100",
                                      .is_packed = is_packed_tfrecord_name};

/// A plain file may begin as a compressed one does, by its first length: that has a check sum.
Packing packing_of_tfrecords(const ByteSource& file) {
  std::array<std::byte, kHeadBytes> head{};
  if (file.size() < head.size()) return Packing::none;
  file.read(0, head);
  const auto length = std::span<const std::byte>(head).first(8);
  return masked_sum(length) == little_endian(head, 8) ? Packing::none : packing_of(file);
}

[[noreturn]] void refuse_packed_file(const std::string& path, const PackingName& packing) {
  throw Error(ErrorKind::data,
              path + ": is compressed with " + packing.name +
                  ", so its records cannot be read alone; give \"shuffle_buffer_mb\", in which "
                  "whole files are shuffled, or unpack it once: " +
                  packing.command + " " + shell_word(path) + " > NEW.tfrecord");
}

}  // namespace

std::vector<TfRecord> index_tfrecords(const ByteSource& file,
                                      const std::function<void(std::uint64_t)>& on_records) {
  std::vector<TfRecord> records;
  TfRecordIndexer indexer(file);
  while (!indexer.at_end()) {
    records.push_back(indexer.next());
    if (records.size() % kRecordsAtOnce == 0) on_records(kRecordsAtOnce);
  }
  on_records(records.size() % kRecordsAtOnce);
  if (records.empty()) throw Error(ErrorKind::data, file.path() + ": is empty, without a record");
  records.shrink_to_fit();
  return records;
}

std::vector<std::string> tfrecord_paths(const std::string& path) {
  return data_file_paths(path, kTfRecordFiles);
}

TfRecordSet::TfRecordSet(const TfRecordSetOptions& options, const OpenContext& context)
    : store_(options.store) {
  const std::vector<std::string> paths =
      store_ ? object_paths(options.path, kTfRecordFiles, *store_, context)
             : tfrecord_paths(options.path);
  const bool keep_open = paths.size() <= HeldFile::most_open();
  files_.resize(paths.size());
  std::mutex mutex;
  std::uint64_t known = 0;
  const auto add = [&](std::uint64_t found) {
    context.check_stop();
    const std::scoped_lock lock(mutex);
    known += found;
    if (found == kRecordsAtOnce) {
      context.report("indexing " + shown_path(options.path) + ": " + format_count(known) +
                     " records");
    }
  };
  UnpackingLimit unpacking;
  const auto scan = [&](std::uint64_t i) {
    File& file = files_[i];
    auto bytes = open_bytes(paths[i], store_);
    file.packing = bytes->is_remote() ? Packing::none : packing_of_tfrecords(*bytes);
    file.bytes = bytes->size();
    if (file.packing == Packing::none) {
      file.records = index_tfrecords(*bytes, add);
      file.file = HeldFile(std::move(bytes), keep_open);
      return;
    }
    if (options.most_unpacked == 0) refuse_packed_file(paths[i], packing_name(file.packing));
    const auto turn = unpacking.wait();
    const auto content = unpack(paths[i], file.packing, options.most_unpacked, ".tfrecord");
    file.bytes = content->size();
    file.records = index_tfrecords(*content, add);
    file.file = HeldFile(std::move(bytes), false);
  };
  parallel_for(paths.size(), 1, context.stop, scan, store_ ? RemoteStore::kOpenAtOnce : 0);
  std::uint64_t records = 0;
  for (const File& file : files_) {
    ends_.push_back(records += file.records.size());
    is_packed_ = is_packed_ || file.packing != Packing::none;
  }
}

std::string TfRecordSet::objects() const {
  std::string text;
  for (const File& file : files_) text += file.file.object();
  return text;
}

TfRecordSet::Place TfRecordSet::locate(std::uint64_t index) const {
  const auto [number, record] = place_of_sample(ends_, index);
  const File& file = files_[number];
  return {&file.file, file.records[record], record, number};
}

void TfRecordSet::read_whole(std::size_t file, std::vector<std::byte>& whole) const {
  const File& from = files_[file];
  whole.resize(from.bytes);
  if (from.packing != Packing::none) return unpack_into(from.file.path(), from.packing, whole);
  from.file.read(0, whole);
}

std::span<const std::byte> TfRecordSet::read(const Place& place, std::span<std::byte> stored) {
  place.file->read(place.record.offset, stored);
  return checked(place, stored);
}

std::span<const std::byte> TfRecordSet::checked(const Place& place,
                                                std::span<const std::byte> stored) {
  const auto data = stored.first(place.record.bytes);
  if (masked_sum(data) == little_endian(stored, data.size())) return data;
  throw Error(ErrorKind::data, place.file->path() + ": record " + std::to_string(place.number) +
                                   " (at byte " + std::to_string(place.record.offset) +
                                   ") is damaged: its check sum is wrong");
}

}  // namespace cachebisect::stages
