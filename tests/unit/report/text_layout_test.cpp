#include "cachebisect/report/text_layout.hpp"

#include <doctest/doctest.h>

TEST_CASE("wrapping indents the lines that follow and keeps long words whole") {
  CHECK(cachebisect::wrap("one two three", 8, 2) == "one two\n  three\n");
  CHECK(cachebisect::wrap("", 8, 2) == "\n");
  CHECK(cachebisect::wrap("unbreakable", 4, 0) == "unbreakable\n");
}
