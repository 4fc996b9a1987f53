#include "cachebisect/format/crc32c.hpp"

#include <string>

#include <doctest/doctest.h>

using cachebisect::crc32c;
using cachebisect::crc32c_by_table;

TEST_CASE("the checksums are those of RFC 3720, B.4") {
  std::string ascending;
  for (char c = 0; c < 32; ++c) ascending += c;
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aa);
  CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43);
  CHECK(crc32c(ascending) == 0x46dd794e);
  CHECK(crc32c(std::string(ascending.rbegin(), ascending.rend())) == 0x113fdb5c);
  CHECK(crc32c("") == 0);
}

TEST_CASE("the processor's instruction and the tables have the same sums at any length") {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    CAPTURE(i);
    CHECK(crc32c(text) == crc32c_by_table(text));
    text += static_cast<char>(37 * i);
  }
}
