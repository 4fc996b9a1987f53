#include "cachebisect/format/filter_process.hpp"

#include <string>

#include <doctest/doctest.h>

using cachebisect::run_filter;

namespace {

constexpr double kLong = 60;

}  // namespace

TEST_CASE("a filter's output and errors are returned, however long the input") {
  const std::string input(3'000'000, 'x');
  const auto copied = run_filter({"cat"}, input, kLong);
  REQUIRE(copied.has_value());
  CHECK(copied->ok);
  CHECK(copied->output == input);
  const auto both = run_filter({"sh", "-c", "cat >&2; echo out; exit 3"}, "in", kLong);
  REQUIRE(both.has_value());
  CHECK_FALSE(both->ok);
  CHECK(both->output == "out\n");
  CHECK(both->errors == "in");
}

TEST_CASE("a filter that does not read its input raises no signal") {
  const auto result = run_filter({"true"}, std::string(1'000'000, 'x'), kLong);
  REQUIRE(result.has_value());
  CHECK(result->ok);
}

TEST_CASE("a program that is not there is told from one that fails") {
  CHECK_FALSE(run_filter({"cachebisect-no-such-program"}, "", kLong).has_value());
  const auto killed = run_filter({"sh", "-c", "kill -9 $$"}, "", kLong);
  REQUIRE(killed.has_value());
  CHECK_FALSE(killed->ok);
}

TEST_CASE("a filter that takes too long is killed") {
  const auto result = run_filter({"sleep", "1000"}, "", 0.05);
  REQUIRE(result.has_value());
  CHECK_FALSE(result->ok);
  CHECK(result->errors.find("too long") != std::string::npos);
}
