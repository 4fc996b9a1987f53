#include "cachebisect/format/csv_text.hpp"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

using namespace cachebisect;

TEST_CASE("a cell is quoted only where RFC 4180 asks for it") {
  CHECK(csv_text("decode") == "decode");
  CHECK(csv_text("") == "");
  CHECK(csv_text("a,b") == "\"a,b\"");
  CHECK(csv_text("say \"no\"") == "\"say \"\"no\"\"\"");
  CHECK(csv_text(" padded") == "\" padded\"");
}

TEST_CASE("control characters and broken UTF-8 are shown, so that a record stays one line") {
  CHECK(csv_text("two\nlines") == "two\\nlines");
  CHECK(csv_text("\x1b[31m") == "\\x1b[31m");
  CHECK(csv_text("\xff") == "\\xff");
  CHECK(csv_text("photos \u00e9") == "photos \u00e9");
}

TEST_CASE("no text is a formula of a spreadsheet") {
  CHECK(csv_text("=1+1") == "'=1+1");
  CHECK(csv_text("+1") == "'+1");
  CHECK(csv_text("-1") == "'-1");
  CHECK(csv_text("@SUM(A1)") == "'@SUM(A1)");
  CHECK(csv_text("\t=1") == "'\\x09=1");
  CHECK(csv_text("=HYPERLINK(\"http://x\",\"y\")") ==
        "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\"");
}

TEST_CASE("numbers keep all their digits and their sign") {
  CHECK(csv_number(-0.25) == "-0.25");
  CHECK(csv_number(0.1) == "0.1");
  CHECK(csv_number(1048576) == "1048576");
  CHECK(csv_number(std::nullopt) == "");
  CHECK(csv_number(std::nan("")) == "");
  CHECK(csv_number(std::numeric_limits<double>::infinity()) == "");
}

TEST_CASE("a row ends in CR LF") {
  CHECK(csv_row({"a", "", "c"}) == "a,,c\r\n");
  CHECK(csv_row({""}) == "\r\n");
}
