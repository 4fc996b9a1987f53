#include "cachebisect/base/number_parse.hpp"

#include <cstdint>

#include <doctest/doctest.h>

using cachebisect::parse_number;
using cachebisect::split_number;

TEST_CASE("the whole text is the number") {
  CHECK(parse_number<int>("-12") == -12);
  CHECK(parse_number<double>("1e3") == 1000);
  for (const char* const text : {"", " 1", "1 ", "+1", "1x", "x"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_number<int>(text));
    CHECK_FALSE(parse_number<double>(text));
  }
}

TEST_CASE("a number that does not fit its type or is not finite is refused") {
  CHECK_FALSE(parse_number<std::int8_t>("128"));
  CHECK_FALSE(parse_number<std::uint64_t>("-1"));
  CHECK_FALSE(parse_number<std::uint64_t>("99999999999999999999999"));
  CHECK_FALSE(parse_number<double>("1e400"));
  CHECK_FALSE(parse_number<double>("inf"));
  CHECK_FALSE(parse_number<double>("nan"));
}

TEST_CASE("a number is split from its unit") {
  const auto size = split_number<double>("2.5GiB");
  REQUIRE(size);
  CHECK(size->value == 2.5);
  CHECK(size->rest == "GiB");
  CHECK_FALSE(split_number<double>("GiB"));
}
