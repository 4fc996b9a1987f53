// Reads integers from untrusted bytes, with bounds checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace cachebisect::stages {

enum class ByteOrder { little, big };

/// The unsigned integer of `Bytes` bytes at `offset`; empty beyond the end.
template <std::size_t Bytes>
std::optional<std::uint32_t> read_unsigned(std::span<const std::byte> data, std::size_t offset,
                                           ByteOrder order) {
  static_assert(Bytes <= 4);
  if (offset > data.size() || data.size() - offset < Bytes) return std::nullopt;
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < Bytes; ++i) {
    const std::size_t at = order == ByteOrder::big ? i : Bytes - 1 - i;
    value = value << 8U | std::to_integer<std::uint32_t>(data[offset + at]);
  }
  return value;
}

/// Whether the bytes at `offset` are `text`.
inline bool has_text(std::span<const std::byte> data, std::size_t offset, std::string_view text) {
  if (offset > data.size() || data.size() - offset < text.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (data[offset + i] != static_cast<std::byte>(text[i])) return false;
  }
  return true;
}

}  // namespace cachebisect::stages
