#include "cachebisect/emulator/byte_range.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace cachebisect;

namespace {

std::string said(std::string_view header, std::uint64_t size) {
  const ByteRange range = parse_range(header, size);
  if (range.kind == ByteRange::Kind::whole) return "whole " + std::to_string(range.bytes);
  if (range.kind == ByteRange::Kind::outside) return "outside";
  return std::to_string(range.begin) + "+" + std::to_string(range.bytes);
}

}  // namespace

TEST_CASE("a range is cut at the end of the object, and one behind it is outside") {
  CHECK(said("bytes=0-0", 100) == "0+1");
  CHECK(said("bytes=10-19", 100) == "10+10");
  CHECK(said("bytes=10-", 100) == "10+90");
  CHECK(said("bytes=-10", 100) == "90+10");
  CHECK(said("bytes=-1000", 100) == "0+100");
  CHECK(said("bytes=90-1000", 100) == "90+10");
  CHECK(said("bytes=99-99", 100) == "99+1");
  CHECK(said("bytes=100-100", 100) == "outside");
  CHECK(said("bytes=100-", 100) == "outside");
  CHECK(said("bytes=-0", 100) == "outside");
  CHECK(said("bytes=0-0", 0) == "outside");
  CHECK(said("bytes=-5", 0) == "outside");
}

TEST_CASE("what is no range of bytes is ignored") {
  for (const char* const header :
       {"", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=5-1", "bytes=0-1,5-6", "lines=0-1",
        "bytes=0x1-5", "bytes= 1-2", "bytes=1-2 ", "bytes=+1-2", "bytes=--5", "bytes=1--2",
        "bytes=1-2-3"}) {
    CAPTURE(header);
    CHECK(said(header, 100) == "whole 100");
  }
}

TEST_CASE("numbers of any length are numbers") {
  CHECK(said("bytes=0-99999999999999999999999999", 100) == "0+100");
  CHECK(said("bytes=99999999999999999999999999-", 100) == "outside");
  CHECK(said("bytes=18446744073709551615-18446744073709551615", 100) == "outside");
  CHECK(said("bytes=-18446744073709551615", 100) == "0+100");
  CHECK(said("bytes=0-" + std::string(100'000, '9'), 100) == "0+100");
}
