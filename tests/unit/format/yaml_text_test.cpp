#include "cachebisect/format/yaml_text.hpp"

#include <limits>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using cachebisect::to_yaml;
using Json = nlohmann::ordered_json;

TEST_CASE("objects and lists are nested blocks, in order") {
  const Json value{{"name", "cifar"},
                   {"batch_size", 128},
                   {"share", {{"mean", 0.25}, {"interval", {0.2, 0.3}}}},
                   {"stages", {{{"use", "read"}, {"path", "x"}}, {{"use", "decode"}}}},
                   {"tags", {"a", "b"}},
                   {"grid", {{1, 2}, {3, 4}}},
                   {"none", nullptr},
                   {"empty", Json::object()},
                   {"nothing", Json::array()}};
  CHECK(to_yaml(value) ==
        "name: \"cifar\"\n"
        "batch_size: 128\n"
        "share:\n"
        "  mean: 0.25\n"
        "  interval: [0.2, 0.3]\n"
        "stages:\n"
        "  - use: \"read\"\n"
        "    path: \"x\"\n"
        "  - use: \"decode\"\n"
        "tags:\n"
        "  - \"a\"\n"
        "  - \"b\"\n"
        "grid:\n"
        "  - [1, 2]\n"
        "  - [3, 4]\n"
        "none: null\n"
        "empty: {}\n"
        "nothing: []\n");
  CHECK(to_yaml("alone") == "\"alone\"\n");
  CHECK(to_yaml(Json::object()) == "{}\n");
}

TEST_CASE("texts are quoted, whatever is in them") {
  CHECK(to_yaml("no") == "\"no\"\n");
  CHECK(to_yaml("a: \"b\"\n- c # d") == "\"a: \\\"b\\\"\\n- c # d\"\n");
  CHECK(to_yaml("\xc3\xa9\xf0\x9f\x98\x80") == "\"\xc3\xa9\xf0\x9f\x98\x80\"\n");
  CHECK(to_yaml("\x7f\xc2\x85\xe2\x80\xa8\xef\xbb\xbf") == "\"\\u007F\\u0085\\u2028\\uFEFF\"\n");
  CHECK(to_yaml("a\xff") == "\"a\xef\xbf\xbd\"\n");
}

TEST_CASE("keys are quoted unless they are plain words") {
  CHECK(to_yaml(Json{{"seconds_per_sample", 1}}) == "seconds_per_sample: 1\n");
  for (const std::string key : {"no", "y", "1", "A", "a b", "a:", "", "-", "null"}) {
    CHECK(to_yaml(Json{{key, 1}}) == '"' + key + "\": 1\n");
  }
  const std::string name(2000, 'x');
  CHECK(to_yaml(Json{{name, {{"a", 1}}}}) == "? \"" + name + "\"\n:\n  a: 1\n");
  CHECK(to_yaml(Json{{name, 1}}) == "? \"" + name + "\"\n: 1\n");
}

TEST_CASE("numbers are those of JSON, with the point that YAML 1.1 asks for") {
  CHECK(to_yaml(1e-7) == "1.0e-07\n");
  CHECK(to_yaml(1.5e300) == "1.5e+300\n");
  CHECK(to_yaml(3.0) == "3.0\n");
  CHECK(to_yaml(std::numeric_limits<double>::quiet_NaN()) == "null\n");
  CHECK(to_yaml(true) == "true\n");
  CHECK(to_yaml(Json::array({1, 2, 3, 4, 5, 6, 7, 8, 9})).starts_with("- 1\n- 2\n"));
}
