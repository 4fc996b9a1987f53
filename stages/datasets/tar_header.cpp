#include "stages/datasets/tar_header.hpp"

#include <algorithm>
#include <charconv>

#include "cachebisect/base/number_parse.hpp"

namespace cachebisect::stages {
namespace {

/// Where a header has a field.
struct TarField {
  std::size_t offset;
  std::size_t bytes;
};
constexpr TarField kTarName{0, 100};
constexpr TarField kTarSize{124, 12};
constexpr TarField kTarChecksum{148, 8};
constexpr TarField kTarType{156, 1};
constexpr TarField kTarMagic{257, 6};
constexpr TarField kTarPrefix{345, 155};

std::string_view text_of(TarBlock block, const TarField& field) noexcept {
  const std::string_view whole(reinterpret_cast<const char*>(block.data()), block.size());
  return whole.substr(field.offset, field.bytes);
}

std::string_view up_to_nul(std::string_view text) noexcept {
  return text.substr(0, text.find('\0'));
}

/// Octal digits between spaces; none are 0.
std::optional<std::uint64_t> octal_number(std::string_view field) noexcept {
  field = up_to_nul(field);
  field.remove_prefix(std::min(field.find_first_not_of(' '), field.size()));
  field = field.substr(0, field.find_last_not_of(' ') + 1);
  if (field.empty()) return 0;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value, 8);
  if (error != std::errc{} || end != field.data() + field.size()) return std::nullopt;
  return value;
}

/// GNU's form of large numbers: big-endian bytes, of which the first bit is a mark.
std::optional<std::uint64_t> binary_number(std::string_view field) noexcept {
  constexpr unsigned kMark = 0x80;
  constexpr unsigned kSign = 0x40;
  const unsigned first = static_cast<unsigned char>(field.front());
  if ((first & kSign) != 0) return std::nullopt;
  std::uint64_t value = first & ~kMark;
  for (const char c : field.substr(1)) {
    if (value >> 56U != 0) return std::nullopt;
    value = value << 8U | static_cast<unsigned char>(c);
  }
  return value;
}

std::optional<std::uint64_t> tar_number(std::string_view field) noexcept {
  const bool binary = (static_cast<unsigned char>(field.front()) & 0x80U) != 0;
  return binary ? binary_number(field) : octal_number(field);
}

/// Some old programs added up signed bytes.
bool has_tar_checksum(TarBlock block) noexcept {
  std::int64_t sum = 0;
  std::int64_t signed_sum = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const bool own = i - kTarChecksum.offset < kTarChecksum.bytes;
    const auto byte = own ? std::uint8_t{' '} : std::to_integer<std::uint8_t>(block[i]);
    sum += byte;
    signed_sum += static_cast<std::int8_t>(byte);
  }
  const auto stored = octal_number(text_of(block, kTarChecksum));
  if (!stored) return false;
  const auto claimed = static_cast<std::int64_t>(*stored);
  return claimed == sum || claimed == signed_sum;
}

std::string tar_name(TarBlock block) {
  std::string name;
  // GNU's headers have another magic, and times where POSIX has the prefix.
  if (text_of(block, kTarMagic) == std::string_view("ustar\0", 6)) {
    name = up_to_nul(text_of(block, kTarPrefix));
    if (!name.empty()) name += '/';
  }
  return name += up_to_nul(text_of(block, kTarName));
}

bool take_record(std::string_view key, std::string_view value, TarExtras& extras) {
  if (key.starts_with("GNU.sparse.")) extras.sparse = true;
  if (key == "path" && !value.empty()) extras.name = std::string(value);
  if (key != "size") return true;
  extras.bytes = parse_number<std::uint64_t>(value);
  return extras.bytes.has_value();
}

}  // namespace

bool ends_tar(TarBlock block) noexcept {
  return std::ranges::all_of(block, [](std::byte byte) { return byte == std::byte{0}; });
}

std::optional<TarHeader> read_tar_header(TarBlock block) {
  if (!has_tar_checksum(block)) return std::nullopt;
  return TarHeader{.type = text_of(block, kTarType).front(),
                   .name = tar_name(block),
                   .bytes = tar_number(text_of(block, kTarSize))};
}

bool read_pax(std::string_view records, TarExtras& extras) {
  while (!records.empty() && records.front() != '\0') {
    // "LENGTH KEY=VALUE\n", where LENGTH counts all of it.
    const auto length = split_number<std::size_t>(records);
    if (!length || !length->rest.starts_with(' ') || length->value > records.size()) return false;
    const std::size_t digits = records.size() - length->rest.size();
    if (length->value < digits + 2 || records[length->value - 1] != '\n') return false;
    const std::string_view record =
        records.substr(digits + 1, length->value - digits - 2);  // without space and line end
    const std::size_t equals = record.find('=');
    if (equals == std::string_view::npos) return false;
    if (!take_record(record.substr(0, equals), record.substr(equals + 1), extras)) return false;
    records.remove_prefix(length->value);
  }
  return true;
}

}  // namespace cachebisect::stages
