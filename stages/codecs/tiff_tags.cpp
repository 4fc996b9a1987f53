#include "stages/codecs/tiff_tags.hpp"

#include "stages/codecs/byte_reader.hpp"

namespace cachebisect::stages {
namespace {

/// Where the first entry of a tag lies.
struct TiffEntry {
  std::size_t at;
  ByteOrder order;
};

std::optional<TiffEntry> find_entry(std::span<const std::byte> tiff, std::uint32_t tag) {
  constexpr std::size_t kEntryBytes = 12;
  const bool little = has_text(tiff, 0, "II");
  if (!little && !has_text(tiff, 0, "MM")) return std::nullopt;
  const ByteOrder order = little ? ByteOrder::little : ByteOrder::big;
  const auto directory = read_unsigned<4>(tiff, 4, order);
  if (!directory) return std::nullopt;
  const auto entries = read_unsigned<2>(tiff, *directory, order);
  if (!entries) return std::nullopt;
  for (std::size_t i = 0; i < *entries; ++i) {
    const std::size_t at = std::size_t{*directory} + 2 + i * kEntryBytes;
    const auto id = read_unsigned<2>(tiff, at, order);
    if (!id) return std::nullopt;
    if (*id == tag) return TiffEntry{at, order};
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint32_t> tiff_tag(std::span<const std::byte> tiff, std::uint32_t tag) {
  const auto entry = find_entry(tiff, tag);
  if (!entry) return std::nullopt;
  const auto [at, order] = *entry;
  switch (read_unsigned<2>(tiff, at + 2, order).value_or(0)) {
    case 1:
      return read_unsigned<1>(tiff, at + 8, order);
    case 3:
      return read_unsigned<2>(tiff, at + 8, order);
    case 4:
      return read_unsigned<4>(tiff, at + 8, order);
    default:
      return std::nullopt;
  }
}

bool has_tiff_tag(std::span<const std::byte> tiff, std::uint32_t tag) {
  return find_entry(tiff, tag).has_value();
}

}  // namespace cachebisect::stages
