#include "cachebisect/base/number_format.hpp"

#include <doctest/doctest.h>

using cachebisect::Interval;

TEST_CASE("counts have separators between thousands") {
  CHECK(cachebisect::format_count(0) == "0");
  CHECK(cachebisect::format_count(999) == "999");
  CHECK(cachebisect::format_count(14'197'122) == "14,197,122");
}

TEST_CASE("rates keep the digits that the interval supports") {
  CHECK(cachebisect::format_rate(12345.6, std::nullopt) == "12,300");
  CHECK(cachebisect::format_rate(12345.6, Interval{12300, 12400}) == "12,350");
  CHECK(cachebisect::format_rate(12345.6, Interval{12345, 12346.5}) == "12,346");
  CHECK(cachebisect::format_rate(12.345, Interval{12, 12.5}) == "12.35");
  CHECK(cachebisect::format_rate(0, std::nullopt) == "0");
}

TEST_CASE("percentages are rounded, but the ends of an interval stay distinct") {
  CHECK(cachebisect::format_percent(0.413) == "41%");
  CHECK(cachebisect::format_percent(0.0413) == "4.1%");
  CHECK(cachebisect::format_percent(0.0001) == "0%");
  CHECK(cachebisect::format_percent(-0.02) == "-2.0%");
  CHECK(cachebisect::format_percent_interval({0.381, 0.439}) == "38-44%");
  CHECK(cachebisect::format_percent_interval({0.401, 0.4095}) == "40.1-41.0%");
  CHECK(cachebisect::format_percent_interval({-0.03, 0.01}) == "-3 to 1%");
  CHECK(cachebisect::format_percent_interval({0.29, 0.57}) == "29-57%");
}

TEST_CASE("times and bytes are printed with their unit") {
  CHECK(cachebisect::format_seconds(2.5e-7) == "250 ns");
  CHECK(cachebisect::format_seconds(8.5e-4) == "850 us");
  CHECK(cachebisect::format_seconds(0.0123) == "12.3 ms");
  CHECK(cachebisect::format_seconds(4.24) == "4.2 s");
  CHECK(cachebisect::format_bytes(999) == "999 B");
  CHECK(cachebisect::format_bytes(1.5e6) == "1.5 MB");
}

TEST_CASE("numbers have three significant digits below 100, or as many as they need") {
  CHECK(cachebisect::format_number(3.14159) == "3.14");
  CHECK(cachebisect::format_number(128.4) == "128");
  CHECK(cachebisect::format_amount(98) == "98");
  CHECK(cachebisect::format_amount(73.4) == "73");
  CHECK(cachebisect::format_amount(4.5) == "4.50");
  CHECK(cachebisect::format_amount(1234.5) == "1,234");
  CHECK(cachebisect::format_amount(0) == "0.00");
  CHECK(cachebisect::format_amount(0.0042) == "0.004");
  CHECK(cachebisect::format_exact(0.1) == "0.1");
  CHECK(cachebisect::format_exact(1048576) == "1048576");
}

TEST_CASE("sentences show few digits") {
  CHECK(cachebisect::percent(0.413) == "41%");
  CHECK(cachebisect::percent(-0.0001) == "0.0%");
  CHECK(cachebisect::percent_range({0.381, 0.439}) == "38 to 44%");
  CHECK(cachebisect::percent_range({0.534, 0.6235}) == "53 to 63%");
  CHECK(cachebisect::percent_range({0.0997, 0.0997}) == "9.9 to 10%");
  CHECK(cachebisect::percent_range({-0.0213, 0.0001}) == "-2.2 to 0.1%");
  CHECK(cachebisect::percent_range({0.29, 0.57}) == "29 to 57%");
  CHECK(cachebisect::percent_at_most(0.0412) == "4.2%");
  CHECK(cachebisect::percent_at_most(0) == "0%");
  CHECK(cachebisect::rate(12345.6) == "12,346");
  CHECK(cachebisect::rate(9.876) == "9.88");
  CHECK(cachebisect::short_duration(1.23e-6) == "1.2 us");
  CHECK(cachebisect::short_duration(0.0123) == "12 ms");
  CHECK(cachebisect::duration(0.42) == "0.4 s");
  CHECK(cachebisect::duration(11.2) == "12 s");
  CHECK(cachebisect::duration(400) == "7 min");
}
