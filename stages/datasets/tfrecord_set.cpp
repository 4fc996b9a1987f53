#include "stages/datasets/tfrecord_set.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <mutex>
#include <string_view>
#include <utility>

#include "stages/codecs/byte_reader.hpp"
#include "stages/datasets/natural_order.hpp"
#include "stages/datasets/tar_paths.hpp"

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
/// Holds the heads of many small records, so that they cost one read.
constexpr std::size_t kHeadWindow = 4096;
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
  explicit TfRecordIndexer(const ByteSource& file) : file_(&file) {}

  [[nodiscard]] bool at_end() const noexcept { return at_ == file_->size(); }
  TfRecord next() {
    const std::uint64_t left = file_->size() - at_;
    if (left < kHeadBytes) refuse_end();
    const auto head = window(kHeadBytes);
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
  std::span<const std::byte> window(std::size_t bytes) {
    if (at_ < begin_ || at_ + bytes > begin_ + held_) {
      begin_ = at_;
      held_ = std::min<std::uint64_t>(window_.size(), file_->size() - at_);
      file_->read(begin_, std::span(window_).first(held_));
    }
    return std::span(window_).subspan(at_ - begin_, bytes);
  }

  [[noreturn]] void refuse_head(std::span<const std::byte> head) const {
    if (at_ == 0 && has_text(head, 0, "\x1f\x8b")) {
      throw Error(ErrorKind::data,
                  file_->path() +
                      ": is compressed with gzip, so its records cannot be read alone; unpack it "
                      "once: gunzip -c " +
                      shell_word(file_->path()) + " > NEW.tfrecord");
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
  std::array<std::byte, kHeadWindow> window_{};
  std::uint64_t begin_ = 0;
  std::uint64_t held_ = 0;
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
  if (name.starts_with('.')) return false;
  return is_numbered_part(name) ||
         std::ranges::any_of(kEnds, [&](std::string_view end) { return name.ends_with(end); });
}

std::vector<std::string> tfrecords_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    std::string name = at->path().filename().string();
    if (is_tfrecord_name(name)) names.push_back(std::move(name));
  }
  if (error) {
    throw Error(ErrorKind::data, folder + ": cannot be listed: " + errno_text(error.value()));
  }
  if (names.empty()) {
    throw Error(ErrorKind::data, folder +
                                     ": has no TFRecord files (*.tfrecord, *.tfrecords, *.tfrec, "
                                     "*-00000-of-00010)");
  }
  std::ranges::sort(names, natural_less);
  for (std::string& name : names) name.insert(0, folder + "/");
  return names;
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
  if (is_remote_path(path)) {
    throw Error(ErrorKind::usage, shown_path(path) +
                                      ": TFRecord files are read from local disks; copy them, or "
                                      "take tar archives or prepared shards, which are read from "
                                      "servers");
  }
  std::error_code none;
  if (std::filesystem::is_directory(path, none)) return tfrecords_in(path);
  if (exists(path)) return {path};
  std::vector<std::string> paths = expand_pattern(path);
  if (paths.size() > 1 || paths.front() != path) return paths;
  throw Error(ErrorKind::data,
              path +
                  ": No such file or directory; give a TFRecord file, a folder of them, or a "
                  "pattern like train-{00000..00099}-of-00100");
}

TfRecordSet::TfRecordSet(const std::string& path, const OpenContext& context) {
  const std::vector<std::string> paths = tfrecord_paths(path);
  const bool keep_open = paths.size() <= HeldFile::most_open();
  files_.resize(paths.size());
  std::mutex mutex;
  std::uint64_t known = 0;
  const auto add = [&](std::uint64_t found) {
    context.check_stop();
    const std::scoped_lock lock(mutex);
    known += found;
    if (found == kRecordsAtOnce) {
      context.report("indexing " + path + ": " + format_count(known) + " records");
    }
  };
  const auto scan = [&](std::uint64_t i) {
    auto bytes = open_file(paths[i]);
    files_[i].records = index_tfrecords(*bytes, add);
    files_[i].file = HeldFile(std::move(bytes), keep_open);
  };
  parallel_for(paths.size(), 1, context.stop, scan);
  std::uint64_t records = 0;
  for (const File& file : files_) ends_.push_back(records += file.records.size());
}

TfRecordSet::Place TfRecordSet::locate(std::uint64_t index) const {
  const auto [number, record] = place_of_sample(ends_, index);
  const File& file = files_[number];
  return {&file.file, file.records[record], record};
}

std::span<const std::byte> TfRecordSet::read(const Place& place, std::span<std::byte> stored) {
  place.file->read(place.record.offset, stored);
  const auto data = stored.first(place.record.bytes);
  if (masked_sum(data) == little_endian(stored, data.size())) return data;
  throw Error(ErrorKind::data, place.file->path() + ": record " + std::to_string(place.number) +
                                   " (at byte " + std::to_string(place.record.offset) +
                                   ") is damaged: its check sum is wrong");
}

}  // namespace cachebisect::stages
