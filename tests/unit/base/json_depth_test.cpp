// Nesting is told from the text alone.
#include "cachebisect/base/json_depth.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace cachebisect;

namespace {

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

}  // namespace

TEST_CASE("nesting is counted in brackets of both kinds that are open at once") {
  CHECK_FALSE(is_nested_too_deep(""));
  CHECK_FALSE(is_nested_too_deep(nested(kMostJsonDepth)));
  CHECK(is_nested_too_deep(nested(kMostJsonDepth + 1)));
  std::string mixed;
  for (std::size_t i = 0; i <= kMostJsonDepth; ++i) mixed += i % 2 == 0 ? "[" : R"({"a":)";
  CHECK(is_nested_too_deep(mixed));
  std::string siblings = "[";
  for (int i = 0; i < 1000; ++i) siblings += "{},[],";
  CHECK_FALSE(is_nested_too_deep(siblings + "0]"));
  CHECK_FALSE(is_nested_too_deep(std::string(1000, ']') + nested(kMostJsonDepth)));
}

TEST_CASE("brackets within strings do not count, whatever is escaped there") {
  const std::string open(1000, '[');
  CHECK_FALSE(is_nested_too_deep('"' + open + '"'));
  CHECK_FALSE(is_nested_too_deep(R"("\")" + open + '"'));
  CHECK(is_nested_too_deep(R"("\\")" + open));
}
