#include "cachebisect/base/utf8.hpp"

#include <doctest/doctest.h>

using namespace cachebisect;

TEST_CASE("UTF-8 is checked byte by byte") {
  CHECK_FALSE(first_invalid_utf8(""));
  CHECK_FALSE(first_invalid_utf8("plain \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf"));
  CHECK(first_invalid_utf8("ab\xff") == 2U);
  CHECK(first_invalid_utf8("\x80") == 0U);
  CHECK(first_invalid_utf8("a\xc3") == 1U);             // cut off
  CHECK(first_invalid_utf8("\xe2\x82") == 0U);          // cut off
  CHECK(first_invalid_utf8("\xc0\xaf") == 0U);          // overlong
  CHECK(first_invalid_utf8("\xe0\x80\xaf") == 0U);      // overlong
  CHECK(first_invalid_utf8("\xf0\x80\x80\xaf") == 0U);  // overlong
  CHECK(first_invalid_utf8("\xed\xa0\x80") == 0U);      // surrogate
  CHECK(first_invalid_utf8("\xf4\x90\x80\x80") == 0U);  // beyond U+10FFFF
  CHECK(first_invalid_utf8("\xf0\x9f\x98\x41") == 0U);  // last byte is not a continuation
}
