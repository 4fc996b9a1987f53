#include "cachebisect/report/words/utc_time.hpp"

#include <doctest/doctest.h>

using cachebisect::unix_seconds;

TEST_CASE("a time in UTC becomes seconds since 1970") {
  CHECK(unix_seconds("1970-01-01T00:00:00Z") == 0);
  CHECK(unix_seconds("2026-01-02T03:04:05Z") == 1767323045);
  CHECK(unix_seconds("2024-02-29T23:59:59Z") == 1709251199);
  CHECK(unix_seconds("2016-12-31T23:59:60Z") == 1483228800);
}

TEST_CASE("what is no such time has no seconds") {
  for (const char* const text :
       {"", "2026-01-02", "2026-01-02T03:04:05", "2026-01-02 03:04:05Z", "2026-1-02T03:04:05ZZ",
        "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-02T24:00:00Z",
        "-026-01-02T03:04:05Z", "2026-01-02T03:60:00Z", "yesterday"}) {
    CAPTURE(text);
    CHECK(!unix_seconds(text).has_value());
  }
}
