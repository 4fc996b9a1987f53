// Files in MNIST's format, plain and gzip.
#pragma once

#include <cstdint>
#include <string>

#include "support/files.hpp"
#include <doctest/doctest.h>
#include <zlib.h>

namespace cachebisect::test {

inline constexpr std::size_t kPixels = 784;

inline void put_number(Bytes& bytes, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes.push_back(static_cast<std::uint8_t>(value >> shift));
}

inline Bytes image_file(std::uint32_t count, std::uint32_t side = 28, std::uint32_t magic = 0x803) {
  Bytes bytes;
  for (const std::uint32_t number : {magic, count, side, side}) put_number(bytes, number);
  for (std::size_t i = 0; i < std::size_t{count} * side * side; ++i)
    bytes.push_back(static_cast<std::uint8_t>(i * 7 + i / kPixels));
  return bytes;
}

inline Bytes label_file(std::uint32_t count, std::uint8_t first = 0) {
  Bytes bytes;
  for (const std::uint32_t number : {0x801U, count}) put_number(bytes, number);
  for (std::uint32_t i = 0; i < count; ++i)
    bytes.push_back(i == 0 ? first : static_cast<std::uint8_t>(i % 10));
  return bytes;
}

inline void write_gzip(const std::string& path, const Bytes& content) {
  gzFile file = gzopen(path.c_str(), "wb");
  REQUIRE(file != nullptr);
  CHECK(gzwrite(file, content.data(), static_cast<unsigned>(content.size())) ==
        static_cast<int>(content.size()));
  gzclose(file);
}

inline const std::string kImages = "train-images-idx3-ubyte";
inline const std::string kLabels = "train-labels-idx1-ubyte";

}  // namespace cachebisect::test
