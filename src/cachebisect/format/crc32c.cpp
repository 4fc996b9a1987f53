#include "cachebisect/format/crc32c.hpp"

#include <array>
#include <cstddef>
#include <cstring>

namespace cachebisect {
namespace {

constexpr std::size_t kCrcStep = 8;

/// The remainder of each byte, with 0 to 7 zero bytes behind it; 0x82f63b78 is 0x1edc6f41 of RFC
/// 3720 with its bits reversed.
constexpr std::array<std::array<std::uint32_t, 256>, kCrcStep> kRemainders = [] {
  constexpr std::uint32_t kPolynomial = 0x82f63b78U;
  std::array<std::array<std::uint32_t, 256>, kCrcStep> remainders{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) {
      remainder = (remainder >> 1U) ^ ((remainder & 1U) != 0 ? kPolynomial : 0U);
    }
    remainders[0].at(byte) = remainder;
  }
  for (std::size_t zeros = 1; zeros < kCrcStep; ++zeros) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = remainders.at(zeros - 1).at(byte);
      remainders.at(zeros).at(byte) = (before >> 8U) ^ remainders[0].at(before & 0xffU);
    }
  }
  return remainders;
}();

std::uint32_t add_byte(std::uint32_t crc, char byte) noexcept {
  return (crc >> 8U) ^ kRemainders[0][(crc ^ static_cast<unsigned char>(byte)) & 0xffU];
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) std::uint32_t crc32c_by_instruction(
    std::string_view bytes) noexcept {
  std::uint64_t crc = ~0U;
  for (; bytes.size() >= kCrcStep; bytes.remove_prefix(kCrcStep)) {
    std::uint64_t next = 0;
    std::memcpy(&next, bytes.data(), kCrcStep);
    crc = __builtin_ia32_crc32di(crc, next);
  }
  auto rest = static_cast<std::uint32_t>(crc);
  for (const char c : bytes) rest = add_byte(rest, c);
  return ~rest;
}
#endif

}  // namespace

std::uint32_t crc32c(std::string_view bytes) noexcept {
#ifdef __x86_64__
  if (__builtin_cpu_supports("sse4.2")) return crc32c_by_instruction(bytes);
#endif
  return crc32c_by_table(bytes);
}

std::uint32_t crc32c_by_table(std::string_view bytes) noexcept {
  std::uint32_t crc = ~0U;
  // Eight bytes at once (Kounavis and Berry, "Novel table lookup-based algorithms", 2008).
  for (; bytes.size() >= kCrcStep; bytes.remove_prefix(kCrcStep)) {
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < kCrcStep; ++i, crc >>= 8U) {
      const auto byte = static_cast<unsigned char>(bytes[i]);
      next ^= kRemainders[kCrcStep - 1 - i][(crc ^ byte) & 0xffU];
    }
    crc = next;
  }
  for (const char c : bytes) crc = add_byte(crc, c);
  return ~crc;
}

}  // namespace cachebisect
