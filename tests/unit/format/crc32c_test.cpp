#include "cachebisect/format/crc32c.hpp"

#include <string>

#include <doctest/doctest.h>

using cachebisect::crc32c;

TEST_CASE("the checksums are those of RFC 3720, B.4") {
  std::string ascending;
  for (char c = 0; c < 32; ++c) ascending += c;
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aa);
  CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43);
  CHECK(crc32c(ascending) == 0x46dd794e);
  CHECK(crc32c(std::string(ascending.rbegin(), ascending.rend())) == 0x113fdb5c);
  CHECK(crc32c("") == 0);
}
