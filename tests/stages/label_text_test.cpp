#include "stages/datasets/label_text.hpp"

#include <string>

#include <doctest/doctest.h>

using cachebisect::stages::json_number;
using cachebisect::stages::whole_number;

TEST_CASE("a label is the whole text, white space aside") {
  CHECK(whole_number("7") == 7);
  CHECK(whole_number(" -12\r\n") == -12);
  CHECK(whole_number("9223372036854775807") == INT64_MAX);
  for (const char* const text :
       {"", " ", "cat", "1 2", "1.0", "1e3", "0x1", "9223372036854775808", "1,", "--1"}) {
    CAPTURE(text);
    CHECK_FALSE(whole_number(text));
  }
  CHECK_FALSE(whole_number(std::string_view("1\0", 2)));
}

TEST_CASE("a label is a number of a JSON object, whatever else that holds") {
  CHECK(json_number(R"({"label": 3})", "label") == 3);
  CHECK(json_number(" {\n\"a\":[1,{\"label\":9}],\"b\":{\"label\":8}, \"label\" :\t-4 } \n",
                    "label") == -4);
  CHECK(json_number(R"({"text": "\"label\": 1, }", "label": 2, "more": "\\"})", "label") == 2);
  CHECK(json_number(R"({"label": 1, "label": 2})", "label") == 2);
  CHECK(json_number(std::string(R"({"deep": )") + std::string(100'000, '[') +
                        std::string(100'000, ']') + R"(, "label": 5})",
                    "label") == 5);
  for (const char* const text : {"",
                                 "3",
                                 "{}",
                                 "{",
                                 R"({"label")",
                                 R"({"label":)",
                                 R"({"label": 3)",
                                 R"({"label": "3"})",
                                 R"({"label": 3.5})",
                                 R"({"label": null})",
                                 R"({"label": })",
                                 R"({"other": 3})",
                                 R"(["label", 3])",
                                 R"({"label": 3} x)",
                                 R"({"label: 3})",
                                 R"({label: 3})",
                                 R"({"label": 3,})",
                                 R"({"a": "\)",
                                 R"({"label": 3]})",
                                 R"({"label": [3]})"}) {
    CAPTURE(text);
    CHECK_FALSE(json_number(text, "label"));
  }
}
