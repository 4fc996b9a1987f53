#include "cachebisect/report/number_format.hpp"

#include <doctest/doctest.h>

#include "cachebisect/report/text_layout.hpp"

using cachebisect::Interval;

TEST_CASE("rates keep the digits that the interval supports") {
  CHECK(cachebisect::format_rate(12345.6, std::nullopt) == "12,300");
  CHECK(cachebisect::format_rate(12345.6, Interval{12300, 12400}) == "12,350");
  CHECK(cachebisect::format_rate(12345.6, Interval{12345, 12346.5}) == "12,346");
  CHECK(cachebisect::format_rate(12.345, Interval{12, 12.5}) == "12.35");
  CHECK(cachebisect::format_rate(0, std::nullopt) == "0");
}

TEST_CASE("percentages") {
  CHECK(cachebisect::format_percent(0.413) == "41%");
  CHECK(cachebisect::format_percent(0.0413) == "4.1%");
  CHECK(cachebisect::format_percent(0.0001) == "0%");
  CHECK(cachebisect::format_percent(-0.02) == "-2.0%");
  CHECK(cachebisect::format_percent_interval({0.381, 0.439}) == "38-44%");
  CHECK(cachebisect::format_percent_interval({0.401, 0.4095}) == "40.1-41.0%");
  CHECK(cachebisect::format_percent_interval({-0.03, 0.01}) == "-3 to 1%");
}

TEST_CASE("times and bytes carry their unit") {
  CHECK(cachebisect::format_seconds(2.5e-7) == "250 ns");
  CHECK(cachebisect::format_seconds(8.5e-4) == "850 us");
  CHECK(cachebisect::format_seconds(0.0123) == "12.3 ms");
  CHECK(cachebisect::format_seconds(4.24) == "4.2 s");
  CHECK(cachebisect::format_bytes(999) == "999 B");
  CHECK(cachebisect::format_bytes(1.5e6) == "1.5 MB");
}

TEST_CASE("wrapping indents the lines that follow and keeps long words whole") {
  CHECK(cachebisect::wrap("one two three", 8, 2) == "one two\n  three\n");
  CHECK(cachebisect::wrap("", 8, 2) == "\n");
  CHECK(cachebisect::wrap("unbreakable", 4, 0) == "unbreakable\n");
}
