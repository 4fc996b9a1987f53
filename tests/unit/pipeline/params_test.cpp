#include "cachebisect/pipeline/params.hpp"

#include <limits>
#include <string>

#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"

using namespace cachebisect;

TEST_CASE("values are read by type, integers also as numbers") {
  Params params;
  params.set("flag", true);
  params.set("count", std::int64_t{3});
  params.set("p", 0.5);
  params.set("text", std::string("a"));
  params.set("mean", std::vector<double>{1, 2});
  params.set("fields", std::vector<std::string>{"x"});
  CHECK(params.boolean("flag"));
  CHECK(params.integer("count") == 3);
  CHECK(params.number("count") == 3.0);
  CHECK(params.number("p") == 0.5);
  CHECK(params.string("text") == "a");
  CHECK(params.numbers("mean").size() == 2);
  CHECK(params.strings("fields").at(0) == "x");
  CHECK(params.has("p"));
  CHECK_FALSE(params.has("q"));
  CHECK_FALSE(params.has_jitter());
  params.set("p", 0.75);
  CHECK(params.number("p") == 0.75);
}

TEST_CASE("reading an undeclared parameter is an internal error") {
  Params params;
  params.set("p", 0.5);
  for (const auto& ask : {+[](const Params& p) { (void)p.number("q"); },
                          +[](const Params& p) { (void)p.integer("p"); },
                          +[](const Params& p) { (void)p.strings("p"); }}) {
    try {
      ask(params);
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::internal);
    }
  }
}

TEST_CASE("a violation names what is accepted") {
  const ParamSpec size{.name = "size", .type = ParamType::integer, .minimum = 1, .maximum = 16};
  CHECK_FALSE(violation(size, std::int64_t{16}));
  CHECK(violation(size, std::int64_t{17}) == "must be an integer from 1 to 16, not 17");
  CHECK(violation(size, 2.5) == "must be an integer from 1 to 16, not 2.5");
  CHECK(violation(size, std::string("x")) == "must be an integer from 1 to 16, not \"x\"");

  const ParamSpec rate{
      .name = "lr", .type = ParamType::number, .minimum = 0, .exclusive_minimum = true};
  CHECK_FALSE(violation(rate, std::int64_t{1}));
  CHECK(violation(rate, 0.0) == "must be a number above 0, not 0");
  CHECK(violation(rate, std::numeric_limits<double>::infinity()));
  CHECK(violation(rate, std::numeric_limits<double>::quiet_NaN()));

  const ParamSpec layout{.name = "layout", .type = ParamType::string, .choices = {"NHWC", "NCHW"}};
  CHECK_FALSE(violation(layout, std::string("NCHW")));
  CHECK(violation(layout, std::string("HWC")) == "must be one of \"NHWC\", \"NCHW\", not \"HWC\"");

  const ParamSpec mean{.name = "mean",
                       .type = ParamType::number_list,
                       .minimum = 0,
                       .maximum = 1,
                       .min_items = 1,
                       .max_items = 4};
  CHECK_FALSE(violation(mean, std::vector<double>{0, 1}));
  CHECK(violation(mean, std::vector<double>{}) ==
        "must be a list of 1 to 4 numbers, each from 0 to 1, not []");
  CHECK(violation(mean, std::vector<double>{0.5, 2}) ==
        "must be a list of 1 to 4 numbers, each from 0 to 1, not [0.5, 2]");
  CHECK(violation(mean, std::vector<std::string>{"a"}));
}

TEST_CASE("defaults are filled in, and missing and unknown parameters are named") {
  const std::vector<ParamSpec> specs{{.name = "size", .type = ParamType::integer, .minimum = 1},
                                     {.name = "p", .default_value = 0.5},
                                     {.name = "limit", .optional = true},
                                     {.name = "jitter", .type = ParamType::jitter}};
  Params given;
  given.set("size", std::int64_t{4});
  const Params params = complete_params(specs, given);
  CHECK(params.number("p") == 0.5);
  CHECK_FALSE(params.has("limit"));
  CHECK(params.has_jitter());

  const auto message = [&](const Params& bad) -> std::string {
    try {
      (void)complete_params(specs, bad);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::usage);
      return error.what();
    }
    return "no error";
  };
  CHECK(message({}) == "parameter \"size\" is missing: an integer of at least 1");
  given.set("sise", std::int64_t{4});
  CHECK(message(given) == "unknown parameter \"sise\"; did you mean \"size\"?");
}
