// Reading pipeline files from untrusted bytes.
#include <string>

#include "support/spec_errors.hpp"
#include <doctest/doctest.h>

using namespace cachebisect::test;

TEST_CASE("text that is not JSON is refused with line and column") {
  CHECK(refusal("") == "f.json: empty; it must hold a JSON object");
  CHECK(refusal(" \n\t ") == "f.json: empty; it must hold a JSON object");
  CHECK(has(refusal("{\n  \"a\": x\n}"),
            "f.json:2:8: not JSON: syntax error while parsing value - invalid literal"));
  CHECK(has(refusal("{\"a\": 1,}"), "f.json:1:9: not JSON"));
  CHECK(has(refusal("{\"a\": 1} {"), "f.json:1:10: not JSON"));
  CHECK(has(refusal("{\"a\":\n\n"), "f.json:3:1: not JSON"));
  CHECK(has(refusal("{\"a\": \"\x01\"}"), "f.json:1:8: not JSON"));
  CHECK(has(refusal("{\"ä\": x}"), "f.json:1:7: not JSON"));
  CHECK(has(refusal("// only a comment"), "f.json:1:18: not JSON"));
  CHECK(has(refusal("{} /* open"), "not JSON"));
  CHECK(has(refusal(std::string("{}\0{}", 5)), "f.json:1:3: not JSON"));
}

TEST_CASE("JSON that is not an object is refused") {
  CHECK(refusal("[]") == "f.json: the file must be an object {...}, not []");
  CHECK(refusal("null") == "f.json: the file must be an object {...}, not null");
  CHECK(refusal("1") == "f.json: the file must be an object {...}, not 1");
}

TEST_CASE("a byte order mark and comments are accepted") {
  CHECK(has(refusal("\xef\xbb\xbf{}"), "lacks \"stages\""));
  CHECK(has(refusal("/* a */ {} // b"), "lacks \"stages\""));
}

TEST_CASE("text that is not UTF-8 is refused anywhere") {
  CHECK(refusal("{\n \"a\xff\": 1}") == "f.json:2:4: not UTF-8; save it as UTF-8");
  CHECK(has(refusal("{} // \xc0\xaf"), "not UTF-8"));
  CHECK(has(refusal("\xff\xfe{\0"), "f.json:1:1: not UTF-8"));
  CHECK(has(refusal("{\"a\": \"\\ud800\"}"), "not JSON"));
}

TEST_CASE("a duplicate key is refused at its second place") {
  CHECK(refusal("{\"seed\": 1,\n \"seed\": 2}") ==
        "f.json:2:2: key \"seed\" appears twice in one object; remove one");
  CHECK(
      has(refusal("{\"stages\": [{\"use\": \"a\", \"use\": \"b\"}]}"), "f.json:1:26: key \"use\""));
  CHECK(has(refusal("{\"a\": 1, \"\\u0061\": 2}"), "appears twice"));
}

TEST_CASE("nesting is refused at any depth beyond the limit") {
  for (const std::size_t depth : {std::size_t{33}, std::size_t{100000}, std::size_t{2000000}}) {
    CHECK(has(refusal(std::string(depth, '[')), "f.json:1:33: nested deeper than 32 levels"));
    CHECK(has(refusal(std::string(depth, '[') + std::string(depth, ']')),
              "nested deeper than 32 levels"));
  }
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  CHECK(has(refusal(objects), "nested deeper"));
  CHECK(has(refusal(std::string(32, '[') + std::string(32, ']')), "must be an object"));
}

TEST_CASE(
    "a number too large for a double is refused, and one too large for an integer by its "
    "parameter") {
  CHECK(refusal("{\"seed\": 1e400}") == "f.json:1:10: number \"1e400\" is too large for a double");
  CHECK(has(refusal("{\"seed\": -1e999999999999}"), "too large"));
  CHECK(has(refusal("{\"seed\": " + std::string(100000, '9') + "}"), "too large"));
  CHECK(has(refusal("{\"batch_size\": 99999999999999999999}"),
            "/batch_size must be an integer from 1 to 1048576, not 1e+20"));
  CHECK(has(refusal("{\"batch_size\": 18446744073709551615}"), "/batch_size must be an integer"));
  CHECK(has(refusal("{\"batch_size\": -9223372036854775809}"), "/batch_size must be an integer"));
  CHECK(has(refusal("{\"seed\": 9223372036854775808}"), "/seed must be an integer from 0"));
}

TEST_CASE("a text larger than any pipeline file is refused") {
  CHECK(has(refusal(std::string((std::size_t{4} << 20U) + 1, ' ')), "larger than 4 MiB"));
}

TEST_CASE("a message stays short and printable whatever the file contains") {
  const std::string long_key(100000, 'k');
  for (const std::string& text :
       {"{\"" + long_key + "\": 1}", "{\"seed\": \"" + long_key + "\"}",
        "{\"seed\": [" + std::string(50000, '[') + "]}", "{\"a\": " + long_key + "}",
        std::string("{\"\\u001b[31m\": 1}")}) {
    const std::string message = refusal(text);
    CHECK(!message.empty());
    CHECK(message.size() < 800);
    CHECK(message.find('\x1b') == std::string::npos);
  }
}
