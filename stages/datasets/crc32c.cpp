#include "stages/datasets/crc32c.hpp"

#include <array>
#include <cstring>

namespace cachebisect::stages {
namespace {

constexpr std::size_t kSlices = 8;
using CrcTables = std::array<std::array<std::uint32_t, 256>, kSlices>;

/// Entry i of table k: the sum of byte i with k zeros behind it.
constexpr CrcTables make_crc_tables() {
  constexpr std::uint32_t kPolynomial = 0x82f63b78;
  CrcTables tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t sum = i;
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1U ^ ((sum & 1U) != 0 ? kPolynomial : 0);
    tables[0][i] = sum;
  }
  for (std::size_t k = 1; k < kSlices; ++k) {
    for (std::size_t i = 0; i < 256; ++i) {
      const std::uint32_t before = tables[k - 1][i];
      tables[k][i] = before >> 8U ^ tables[0][before & 0xffU];
    }
  }
  return tables;
}

constexpr CrcTables kCrcTables = make_crc_tables();

std::uint32_t add_byte(std::uint32_t sum, std::byte byte) noexcept {
  return sum >> 8U ^ kCrcTables[0][(sum ^ std::to_integer<std::uint32_t>(byte)) & 0xffU];
}

std::uint64_t eight_bytes(std::span<const std::byte> bytes) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = kSlices; i-- > 0;)
    value = value << 8U | std::to_integer<std::uint64_t>(bytes[i]);
  return value;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) std::uint32_t crc32c_by_instruction(
    std::span<const std::byte> bytes) noexcept {
  std::uint64_t sum = 0xffffffff;
  for (; bytes.size() >= kSlices; bytes = bytes.subspan(kSlices)) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data(), kSlices);
    sum = __builtin_ia32_crc32di(sum, value);
  }
  auto rest = static_cast<std::uint32_t>(sum);
  for (const std::byte byte : bytes) rest = add_byte(rest, byte);
  return ~rest;
}
#endif

}  // namespace

std::uint32_t crc32c_by_table(std::span<const std::byte> bytes) noexcept {
  std::uint32_t sum = 0xffffffff;
  for (; bytes.size() >= kSlices; bytes = bytes.subspan(kSlices)) {
    const std::uint64_t value = eight_bytes(bytes) ^ sum;
    sum = 0;
    for (std::size_t i = 0; i < kSlices; ++i)
      sum ^= kCrcTables[kSlices - 1 - i][value >> (8 * i) & 0xffU];
  }
  for (const std::byte byte : bytes) sum = add_byte(sum, byte);
  return ~sum;
}

std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept {
#ifdef __x86_64__
  if (__builtin_cpu_supports("sse4.2")) return crc32c_by_instruction(bytes);
#endif
  return crc32c_by_table(bytes);
}

}  // namespace cachebisect::stages
