#include "cachebisect/base/printable.hpp"

#include <doctest/doctest.h>

using cachebisect::printable;

TEST_CASE("ordinary text stays as it is") {
  for (const char* const text : {"", "a b", "/data/Fotos \xc3\xa4\xc3\xb6/x.jpg",
                                 "\xe6\x97\xa5.png", "\xf0\x9f\x98\x80", "50% \\x1b \"quoted\""}) {
    CHECK(printable(text) == text);
  }
}

TEST_CASE("control characters are escaped, so that the terminal obeys none") {
  CHECK(printable("a\x1b[31mb") == "a\\x1b[31mb");
  CHECK(printable("\x07\r\t\x7f") == "\\x07\\x0d\\x09\\x7f");
  CHECK(printable("one\ntwo") == "one\\ntwo");
  CHECK(printable(std::string("\0", 1)) == "\\x00");
  CHECK(printable("\xc2\x9b"
                  "31m") == "\\xc2\\x9b31m");  // CSI in one character
  CHECK(printable("\xc2\xa0") == "\xc2\xa0");
}

TEST_CASE("bytes that are not UTF-8 are escaped") {
  CHECK(printable("caf\xe9.jpg") == "caf\\xe9.jpg");
  CHECK(printable("\xff\xc3") == "\\xff\\xc3");
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // a surrogate
  CHECK(printable("\x9b"
                  "31m") == "\\x9b31m");
}
