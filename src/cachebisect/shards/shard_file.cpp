#include "cachebisect/shards/shard_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cachebisect/base/error.hpp"

namespace cachebisect::shards {
namespace {

constexpr std::array<char, 8> kBegin{'C', 'B', 'S', 'H', 'A', 'R', 'D', '1'};
constexpr std::array<char, 8> kEnd{'C', 'B', 'S', 'H', 'E', 'N', 'D', '1'};

/// Holds the index of 5,000 records.
constexpr std::uint64_t kRemoteTail = std::uint64_t{1} << 17U;

struct Footer {
  std::uint64_t index_offset = 0;
  std::uint64_t records = 0;
  std::uint64_t index_checksum = 0;
  ShardOrigin origin;
  std::array<char, 8> magic{};
};
static_assert(sizeof(Footer) == 56 && sizeof(ShardEntry) == 24);
static_assert(kBegin.size() == ShardFile::kFirstRecord);

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace

std::uint64_t checksum(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

ShardWriter::ShardWriter(const std::string& path) : file_(path), offset_(kBegin.size()) {}

void ShardWriter::append(std::span<const std::byte> stored, std::size_t record_bytes) {
  if (std::max(stored.size(), record_bytes) > kMostRecordBytes) {
    throw Error(ErrorKind::data, "a sample of " + std::to_string(record_bytes) +
                                     " bytes is too large for a shard (1 GiB); prepare after an "
                                     "earlier stage");
  }
  if (index_.empty()) file_.append(std::as_bytes(std::span(kBegin)));
  file_.append(stored);
  index_.push_back({.offset = offset_,
                    .stored_bytes = static_cast<std::uint32_t>(stored.size()),
                    .record_bytes = static_cast<std::uint32_t>(record_bytes),
                    .checksum = checksum(stored)});
  offset_ += stored.size();
}

std::uint64_t ShardWriter::close(const ShardOrigin& origin) {
  const std::span<const std::byte> index = std::as_bytes(std::span(index_));
  const Footer footer{.index_offset = offset_,
                      .records = index_.size(),
                      .index_checksum = checksum(index),
                      .origin = origin,
                      .magic = kEnd};
  if (index_.empty()) file_.append(std::as_bytes(std::span(kBegin)));
  file_.append(index);
  file_.append(bytes_of(footer));
  offset_ += index.size() + sizeof(Footer);
  file_.publish();
  return footer.index_checksum;
}

ShardFile::ShardFile(std::unique_ptr<const ByteSource> file) : file_(std::move(file)) {
  read_index();
  check_index();
}

void ShardFile::read_index() {
  constexpr std::uint64_t kLeast = kBegin.size() + sizeof(Footer);
  const std::uint64_t size = file_->size();
  if (size < kLeast) refuse("is too short for a shard");
  std::array<char, 8> begin{};
  file_->read(0, std::as_writable_bytes(std::span(begin)));
  // A server takes as long for the footer as for the index before it.
  std::vector<std::byte> tail(file_->is_remote() ? std::min(size, kRemoteTail) : sizeof(Footer));
  file_->read(size - tail.size(), tail);
  Footer footer;
  std::memcpy(&footer, tail.data() + tail.size() - sizeof(Footer), sizeof(Footer));
  if (begin != kBegin || footer.magic != kEnd) refuse("is no whole shard");
  const std::uint64_t room = size - kLeast;
  if (footer.records > room / sizeof(ShardEntry) || footer.index_offset < kBegin.size() ||
      footer.index_offset + footer.records * sizeof(ShardEntry) != size - sizeof(Footer)) {
    refuse("has an index that does not fit into it");
  }
  origin_ = footer.origin;
  index_.resize(footer.records);
  const std::span<std::byte> index = std::as_writable_bytes(std::span(index_));
  if (index.size() + sizeof(Footer) <= tail.size()) {
    std::ranges::copy(std::span(tail).last(index.size() + sizeof(Footer)).first(index.size()),
                      index.begin());
  } else {
    file_->read(footer.index_offset, index);
  }
  index_checksum_ = checksum(index);
  if (index_checksum_ != footer.index_checksum) refuse("has a damaged index");
}

void ShardFile::check_index() const {
  std::uint64_t next = kFirstRecord;
  for (const ShardEntry& entry : index_) {
    if (entry.offset != next) refuse("has an index with gaps");
    next += entry.stored_bytes;
  }
  if (next != records_end()) refuse("has an index that ends elsewhere than its records");
}

std::uint64_t ShardFile::records_end() const noexcept {
  return file_->size() - sizeof(Footer) - index_.size() * sizeof(ShardEntry);
}

void ShardFile::read(std::uint64_t record, std::span<std::byte> stored) const {
  file_->read(index_[record].offset, stored);
  check(record, stored);
}

void ShardFile::check(std::uint64_t record, std::span<const std::byte> stored) const {
  const ShardEntry& entry = index_[record];
  if (checksum(stored) != entry.checksum) {
    refuse("is damaged at byte " + std::to_string(entry.offset) + " (record " +
           std::to_string(record) + ")");
  }
}

void ShardFile::refuse(const std::string& what) const {
  throw Error(ErrorKind::data,
              file_->path() + ": " + what + "; the same `cachebisect prepare` writes it again");
}

}  // namespace cachebisect::shards
