// Numbers as bytes, the lowest first, whatever the machine's own order.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>

namespace cachebisect {

template <std::unsigned_integral Number>
[[nodiscard]] std::string little_endian(Number value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    bytes += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
  }
  return bytes;
}

}  // namespace cachebisect
