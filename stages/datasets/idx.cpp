#include "stages/datasets/idx.hpp"

#include <cstring>

#include "stages/codecs/byte_reader.hpp"

#include "cachebisect/base/machine.hpp"
#include "cachebisect/base/number_format.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 36;
constexpr std::uint64_t kMaxBytesInMemory = std::uint64_t{1} << 32;
/// More than images compress to, in a file that needs much memory: 64 MiB from a few kilobytes.
constexpr std::uint64_t kBelievedRatio = 200;
constexpr std::uint64_t kMostUnbelieved = std::uint64_t{1} << 26;
constexpr std::uint32_t kUnsignedByte = 0x08;

std::uint32_t number_at(std::span<const std::byte> header, std::size_t offset) {
  return read_unsigned<4>(header, offset, ByteOrder::big).value();
}

std::string hex(std::uint32_t value) {
  constexpr std::string_view kHexDigits = "0123456789abcdef";
  std::string text = "0x";
  for (int shift = 28; shift >= 0; shift -= 4) text += kHexDigits[value >> shift & 15U];
  return text;
}

}  // namespace

IdxFile::IdxFile(const std::string& path, std::size_t rank, bool hold)
    : path_(path),
      rank_(rank),
      in_memory_(hold || path.ends_with(".gz")),
      header_bytes_(4 + 4 * rank) {
  std::array<std::byte, 16> storage{};
  const auto header = std::span(storage).first(header_bytes_);
  if (path.ends_with(".gz")) {
    gzip_ = std::make_unique<GzipReader>(path);
    gzip_->read(header);
  } else {
    file_ = InputFile(path);
    if (file_.size() < header.size()) {
      fail("has " + std::to_string(file_.size()) + " bytes, too few for the header of an IDX file");
    }
    file_.read(0, header);
  }
  const std::uint32_t wanted = kUnsignedByte << 8 | static_cast<std::uint32_t>(rank);
  if (const std::uint32_t magic = number_at(header, 0); magic != wanted) {
    fail("begins with the magic number " + hex(magic) + "; an IDX file of this kind begins with " +
         hex(wanted));
  }
  for (std::size_t axis = 0; axis < rank; ++axis) dims_.at(axis) = number_at(header, 4 + 4 * axis);
  check_size();
}

void IdxFile::fail(const std::string& what) const {
  throw Error(ErrorKind::data, path_ + ": " + what);
}

std::string IdxFile::shape() const {
  std::string text;
  for (std::size_t axis = 0; axis < rank_; ++axis) {
    text += (axis == 0 ? "" : " x ") + std::to_string(dims_.at(axis));
  }
  return text;
}

void IdxFile::check_size() const {
  std::uint64_t product = 1;
  bool overflow = false;
  for (const std::uint64_t dim : dims_) {
    overflow = overflow || __builtin_mul_overflow(product, dim, &product);
  }
  const std::uint64_t limit = gzip_ ? kMaxBytesInMemory : kMaxBytes;
  if (overflow || product > limit) {
    fail("the header declares " + shape() + " bytes, more than an IDX file may have (" +
         std::to_string(limit) + ")");
  }
  if (product == 0) fail("has no items (" + shape() + ")");
  const std::uint64_t declared = product + header_bytes_;
  const std::string declares =
      "its header declares " + std::to_string(declared) + " (" + shape() + ")";
  if (gzip_ && declared > gzip_->max_bytes()) {
    fail("cannot inflate to more than " + std::to_string(gzip_->max_bytes()) + " bytes, " +
         declares + "; the file is truncated or damaged");
  }
  if (gzip_ && declared > kMostUnbelieved && declared / kBelievedRatio > gzip_->file_bytes()) {
    fail(
        "has " + std::to_string(gzip_->file_bytes()) + " bytes, " + declares + ", over " +
        std::to_string(kBelievedRatio) +
        " times as many: it may be made to fill the memory; if it is right, unpack it with gunzip");
  }
  if (!gzip_ && declared != file_.size()) {
    fail("has " + std::to_string(file_.size()) + " bytes, " + declares +
         "; the file is truncated or damaged");
  }
}

void IdxFile::check_room() const {
  const double available = probe_machine().memory_available_bytes;
  if (static_cast<double>(elements()) <= available) return;
  fail("inflates to " + format_bytes(static_cast<double>(elements())) + ", and " +
       format_bytes(available) + " of memory is available; unpack it with gunzip");
}

void IdxFile::load(const OpenContext& context) {
  if (!in_memory_) {
    file_.open_per_core();
    return;
  }
  if (!gzip_) {
    content_ = read_whole(file_, context);
    content_begin_ = header_bytes_;
    return;
  }
  check_room();
  content_ = HugePageBuffer(elements());
  gzip_->read(content_.bytes());
  if (!gzip_->at_end()) {
    fail("inflates to more than its header declares (" + shape() +
         "); the file is damaged, or another kind of file");
  }
  gzip_.reset();
}

void IdxFile::read(std::uint64_t index, std::span<std::byte> out) const {
  if (in_memory_) {
    const std::size_t begin = content_begin_ + index * item_bytes();
    std::memcpy(out.data(), content_.bytes().subspan(begin, out.size()).data(), out.size());
  } else {
    file_.read(offset(index), out);
  }
}

std::vector<std::byte> idx_header(std::span<const std::uint32_t> dims) {
  std::vector<std::byte> header{std::byte{0}, std::byte{0}, std::byte{kUnsignedByte},
                                static_cast<std::byte>(dims.size())};
  for (const std::uint32_t dim : dims) {
    for (int shift = 24; shift >= 0; shift -= 8)
      header.push_back(static_cast<std::byte>(dim >> shift & 255U));
  }
  return header;
}

}  // namespace cachebisect::stages
