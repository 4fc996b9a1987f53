#include "stages/datasets/tar_reader.hpp"

#include <algorithm>
#include <array>

#include "stages/codecs/byte_reader.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"
#include "cachebisect/base/shell_word.hpp"

namespace cachebisect::stages {
namespace {

/// The longest text of a long name, or of the records of a pax header.
constexpr std::uint64_t kMostExtraBytes = std::uint64_t{1} << 20U;
constexpr std::size_t kMostNameBytes = std::size_t{1} << 16U;
constexpr const char* kAgain = "; copy or write it again";

struct Compression {
  std::string_view magic;
  std::string_view name;
  std::string_view unpack;  ///< the command that writes the content to its output
};
constexpr std::array<Compression, 5> kCompressions{
    Compression{"\x1f\x8b", "gzip", "gunzip -c"},
    Compression{"\x28\xb5\x2f\xfd", "Zstandard", "zstd -dc"},
    Compression{"\xfd\x37zXZ", "xz", "xz -dc"}, Compression{"BZh", "bzip2", "bunzip2 -c"},
    Compression{"\x04\x22\x4d\x18", "LZ4", "lz4 -dc"}};

bool is_tar_file(char type, std::string_view name) noexcept {
  // Before POSIX a folder was a file whose name ends with a slash.
  if (type == '\0') return !name.ends_with('/');
  return type == '0' || type == '7';
}

/// A header about the member behind it: a long name or link ('L', 'K'), or pax records ('g': of the
/// whole archive, such as a comment).
bool is_tar_extra(char type) noexcept {
  return std::string_view("LKxXg").find(type) != std::string_view::npos;
}

/// Links, devices, folders and FIFOs may state a size, but nothing follows them.
bool has_tar_data(char type) noexcept { return type < '1' || type > '6'; }

std::uint64_t padded_to_block(std::uint64_t bytes) noexcept {
  return (bytes + kTarBlockBytes - 1) / kTarBlockBytes * kTarBlockBytes;
}

}  // namespace

TarReader::TarReader(const ByteSource& file) : file_(&file), window_(file) {}

std::optional<TarMember> TarReader::next() {
  TarExtras extras;
  while (std::optional<Entry> entry = next_entry(extras)) {
    if (is_tar_extra(entry->type)) {
      take_extras(*entry, extras);
      continue;
    }
    if (extras.sparse || entry->type == 'S') {
      refuse(quote(entry->member.name) +
             " is a sparse file; write the archive again without --sparse");
    }
    if (is_tar_file(entry->type, entry->member.name)) return std::move(entry->member);
    extras = {};
  }
  return std::nullopt;
}

std::optional<TarReader::Entry> TarReader::next_entry(const TarExtras& extras) {
  std::optional<TarHeader> header = next_header();
  if (!header) return std::nullopt;
  Entry entry{.type = header->type,
              .member = {.name = std::move(header->name), .offset = header_ + kTarBlockBytes}};
  std::optional<std::uint64_t> bytes = header->bytes;
  if (!is_tar_extra(entry.type)) {
    if (extras.name) entry.member.name = *extras.name;
    if (extras.bytes) bytes = extras.bytes;
  }
  if (has_tar_data(entry.type)) {
    if (!bytes) refuse("the size of " + quote(entry.member.name) + " is not a number");
    entry.member.bytes = *bytes;
  }
  const std::uint64_t left = file_->size() - entry.member.offset;
  if (entry.member.bytes > left) {
    refuse(quote(entry.member.name) + " is said to have " + std::to_string(entry.member.bytes) +
           " bytes, and " + std::to_string(left) +
           " are left; the archive is damaged or cut short" + kAgain);
  }
  at_ = entry.member.offset + padded_to_block(entry.member.bytes);
  return entry;
}

std::optional<TarHeader> TarReader::next_header() {
  if (ended_) return std::nullopt;
  check_room();
  header_ = at_;
  const auto block = window_.at(at_, kTarBlockBytes).first<kTarBlockBytes>();
  if (ends_tar(block)) {
    ended_ = true;
    return std::nullopt;
  }
  std::optional<TarHeader> header = read_tar_header(block);
  if (!header && at_ == 0) refuse_first_block(block);
  if (!header) refuse(std::string("the check sum is wrong: the archive is damaged") + kAgain);
  return header;
}

void TarReader::check_room() const {
  const std::uint64_t size = file_->size();
  if (at_ <= size && size - at_ >= kTarBlockBytes) return;
  const auto fail = [this](const std::string& what) {
    throw Error(ErrorKind::data, file_->path() + ": " + what);
  };
  if (size == 0) fail("is empty, not a tar archive");
  if (at_ == 0) {
    std::array<std::byte, kTarBlockBytes> begin{};
    file_->read(0, std::span(begin).first(size));
    refuse_first_block(begin);
  }
  fail("ends at byte " + std::to_string(size) +
       " without the blocks of zeros that close a tar archive: it is cut short" + kAgain);
}

void TarReader::take_extras(const Entry& entry, TarExtras& extras) {
  if (entry.type == 'K' || entry.type == 'g') return;
  const std::string text = read_text(entry.member);
  if (entry.type == 'L') {
    extras.name = text.substr(0, text.find('\0'));
  } else if (!read_pax(text, extras)) {
    refuse(std::string("the records of a pax header are damaged") + kAgain);
  }
  const bool bad = extras.name && (extras.name->size() > kMostNameBytes ||
                                   extras.name->find('\0') != std::string::npos);
  if (bad) refuse("the name of a member is no file name");
}

std::string TarReader::read_text(const TarMember& member) {
  if (member.bytes > kMostExtraBytes) {
    refuse("a name or a pax header has " + std::to_string(member.bytes) +
           " bytes, more than one may have (" + std::to_string(kMostExtraBytes) + ")");
  }
  std::string text(member.bytes, '\0');
  if (text.size() <= ScanWindow::kLeastBytes) {
    const auto bytes = window_.at(member.offset, text.size());
    std::ranges::transform(bytes, text.begin(), [](std::byte b) { return static_cast<char>(b); });
  } else {
    file_->read(member.offset, std::as_writable_bytes(std::span(text)));
  }
  return text;
}

void TarReader::refuse_first_block(std::span<const std::byte> begin) const {
  for (const Compression& compression : kCompressions) {
    if (!has_text(begin, 0, compression.magic)) continue;
    throw Error(ErrorKind::data, file_->path() + ": is compressed with " +
                                     std::string(compression.name) +
                                     ", so its members cannot be read alone; unpack it once: " +
                                     std::string(compression.unpack) + " " +
                                     shell_word(file_->path()) + " > NEW.tar");
  }
  throw Error(ErrorKind::data, file_->path() +
                                   ": is not a tar archive: the check sum of its first "
                                   "header is wrong");
}

void TarReader::refuse(const std::string& what) const {
  throw Error(ErrorKind::data,
              file_->path() + ": in the header at byte " + std::to_string(header_) + ", " + what);
}

}  // namespace cachebisect::stages
