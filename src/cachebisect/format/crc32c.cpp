#include "cachebisect/format/crc32c.hpp"

#include <array>

namespace cachebisect {
namespace {

/// The remainder of each byte; 0x82f63b78 is 0x1edc6f41 of RFC 3720 with its bits reversed.
constexpr std::array<std::uint32_t, 256> kRemainders = [] {
  constexpr std::uint32_t kPolynomial = 0x82f63b78U;
  std::array<std::uint32_t, 256> remainders{};
  for (std::uint32_t byte = 0; byte < remainders.size(); ++byte) {
    std::uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) {
      remainder = (remainder >> 1U) ^ ((remainder & 1U) != 0 ? kPolynomial : 0U);
    }
    remainders.at(byte) = remainder;
  }
  return remainders;
}();

}  // namespace

std::uint32_t crc32c(std::string_view bytes) noexcept {
  std::uint32_t crc = ~0U;
  for (const char c : bytes) {
    crc = (crc >> 8U) ^ kRemainders[(crc ^ static_cast<unsigned char>(c)) & 0xffU];
  }
  return ~crc;
}

}  // namespace cachebisect
