#include "stages/datasets/idx.hpp"

#include <cstring>

#include "stages/codecs/byte_reader.hpp"
#include "stages/datasets/gzip.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 36;
constexpr std::uint64_t kMaxBytesInMemory = std::uint64_t{1} << 32;
constexpr std::uint32_t kUnsignedByte = 0x08;

std::uint32_t number_at(std::span<const std::byte> header, std::size_t offset) {
  return read_unsigned<4>(header, offset, ByteOrder::big).value();
}

std::string hex(std::uint32_t value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "0x";
  for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[value >> shift & 15U];
  return text;
}

/// The dimensions that follow the magic number of `header`. Throws unless they add up to a file of
/// `bytes`.
std::array<std::uint64_t, 3> checked_dims(std::span<const std::byte> header, std::size_t rank,
                                          std::uint64_t bytes, const std::string& path) {
  std::array<std::uint64_t, 3> dims{1, 1, 1};
  std::uint64_t elements = 1;
  std::string shape;
  bool overflow = false;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    dims.at(axis) = number_at(header, 4 + 4 * axis);
    shape += (axis == 0 ? "" : " x ") + std::to_string(dims.at(axis));
    overflow = overflow || __builtin_mul_overflow(elements, dims.at(axis), &elements);
  }
  if (overflow || elements > kMaxBytes) {
    throw Error(ErrorKind::data, path + ": the header declares " + shape +
                                     " bytes, more than an IDX file may have (" +
                                     std::to_string(kMaxBytes) + ")");
  }
  if (elements == 0) throw Error(ErrorKind::data, path + ": has no items (" + shape + ")");
  if (elements + header.size() != bytes) {
    throw Error(ErrorKind::data, path + ": has " + std::to_string(bytes) +
                                     " bytes, its header declares " +
                                     std::to_string(elements + header.size()) + " (" + shape +
                                     "); the file is truncated or damaged");
  }
  return dims;
}

}  // namespace

IdxFile::IdxFile(const std::string& path, std::size_t rank)
    : path_(path), header_bytes_(4 + 4 * rank) {
  std::array<std::byte, 16> storage{};
  const auto header = std::span(storage).first(header_bytes_);
  std::uint64_t bytes = 0;
  if (path.ends_with(".gz")) {
    content_ = read_gzip(path, kMaxBytesInMemory);
    bytes = content_.size();
  } else {
    file_ = InputFile(path);
    bytes = file_.size();
  }
  if (bytes < header.size()) {
    throw Error(ErrorKind::data, path + ": has " + std::to_string(bytes) +
                                     " bytes, too few for the header of an IDX file");
  }
  if (in_memory()) {
    std::memcpy(header.data(), content_.data(), header.size());
  } else {
    file_.read(0, header);
  }
  const std::uint32_t wanted = kUnsignedByte << 8 | static_cast<std::uint32_t>(rank);
  if (const std::uint32_t magic = number_at(header, 0); magic != wanted) {
    throw Error(ErrorKind::data, path + ": begins with the magic number " + hex(magic) +
                                     "; an IDX file of this kind begins with " + hex(wanted));
  }
  dims_ = checked_dims(header, rank, bytes, path);
}

void IdxFile::read(std::uint64_t index, std::span<std::byte> out) const {
  if (in_memory()) {
    std::memcpy(out.data(), content_.data() + offset(index), out.size());
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
