#include "cachebisect/format/crc32c.hpp"

#include <array>
#include <cstddef>

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

}  // namespace

std::uint32_t crc32c(std::string_view bytes) noexcept {
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
  for (const char c : bytes) {
    crc = (crc >> 8U) ^ kRemainders[0][(crc ^ static_cast<unsigned char>(c)) & 0xffU];
  }
  return ~crc;
}

}  // namespace cachebisect
