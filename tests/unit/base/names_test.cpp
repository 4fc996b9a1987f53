#include "cachebisect/base/names.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace cachebisect;

TEST_CASE("edit distance counts insertions, deletions, changes and swaps, not case") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("abc", "abc") == 0);
  CHECK(edit_distance("abc", "ABC") == 0);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("corp", "crop") == 1);
  CHECK(edit_distance("size", "sizes") == 1);
}

TEST_CASE("the nearest name is found with or without its category, and no distant one") {
  const std::vector<std::string> known{"augment.normalize", "augment.random_crop", "read.cifar10"};
  CHECK(nearest_name("augment.random_corp", known) == "augment.random_crop");
  CHECK(nearest_name("random_crop", known) == "augment.random_crop");
  CHECK(nearest_name("normalise", known) == "augment.normalize");
  CHECK(nearest_name("read.cifar", known) == "read.cifar10");
  CHECK_FALSE(nearest_name("zzzz", known));
  CHECK_FALSE(nearest_name("", known));
  CHECK_FALSE(nearest_name(std::string(100000, 'a'), known));
}

TEST_CASE("a suggestion lists the known names if none is near") {
  const std::vector<std::string> known{"sgd", "adam"};
  CHECK(suggestion("sdg", known) == "did you mean \"sgd\"?");
  CHECK(suggestion("rmsprop", known) == "known: sgd, adam");
  CHECK(suggestion("x", {}).empty());
}

TEST_CASE("quoted text is safe and short") {
  CHECK(quote("plain") == "\"plain\"");
  CHECK(quote("a\"b\\c\n") == "\"a\\\"b\\\\c\\n\"");
  CHECK(quote("\x1b[31m\xff") == "\"\\x1b[31m\\xff\"");
  CHECK(quote(std::string(1000, 'x')).size() == 85);
}

TEST_CASE("a plain name has lower-case letters, digits, dashes and underscores") {
  CHECK(is_plain_name("a-b_c9"));
  CHECK_FALSE(is_plain_name(""));
  CHECK_FALSE(is_plain_name("A"));
  CHECK_FALSE(is_plain_name("a.b"));
}
