#include "cachebisect/base/setting_path.hpp"

#include <doctest/doctest.h>

using cachebisect::SettingPath;

TEST_CASE("a path reads and prints as dots and as a JSON pointer") {
  const auto dotted = SettingPath::from_dotted("stages.2.size");
  REQUIRE(dotted);
  CHECK(*dotted == SettingPath().at("stages").at(std::size_t{2}).at("size"));
  CHECK(dotted == SettingPath::from_pointer("/stages/2/size"));
  CHECK(dotted->dotted() == "stages.2.size");
  CHECK(dotted->pointer() == "/stages/2/size");
}

TEST_CASE("a pointer escapes slashes and tildes") {
  const SettingPath path = SettingPath().at("a/b~c").at("");
  CHECK(path.pointer() == "/a~1b~0c/");
  CHECK(SettingPath::from_pointer(path.pointer()) == path);
}

TEST_CASE("the empty pointer is the whole file") {
  CHECK(SettingPath::from_pointer("") == SettingPath());
  CHECK(SettingPath().pointer().empty());
}

TEST_CASE("what is no path is refused") {
  for (const char* const text : {"", ".", "a.", ".a", "a..b"}) {
    CAPTURE(text);
    CHECK_FALSE(SettingPath::from_dotted(text));
  }
  for (const char* const text : {"a", "stages/2", "/a~", "/a~2"}) {
    CAPTURE(text);
    CHECK_FALSE(SettingPath::from_pointer(text));
  }
}
