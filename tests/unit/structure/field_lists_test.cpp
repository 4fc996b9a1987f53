// One list of fields per type: two templates with one signature break the language's one-definition
// rule, and which of them a caller gets is up to the linker.
#include <map>
#include <regex>
#include <set>
#include <string>

#include "support/source_text.hpp"
#include <doctest/doctest.h>

namespace {

/// The types whose fields a file lists, with the name of the function.
std::multiset<std::string> lists_in(const std::string& source) {
  static const std::regex list(R"(void (\w*fields)\(\s*\w+& \w+,\s*Visited<\w+,\s*(\w+)>&)");
  std::multiset<std::string> lists;
  for (std::sregex_iterator found(source.begin(), source.end(), list), end; found != end; ++found) {
    lists.insert((*found)[1].str() + " of " + (*found)[2].str());
  }
  return lists;
}

}  // namespace

TEST_CASE("lists of fields are found") {
  CHECK(lists_in("template <class V>\nvoid fields(V& v, Visited<V, Arm>& arm) {}\n"
                 "void value_fields(V& v,\n    Visited<V, Arm>& arm) {}\n") ==
        std::multiset<std::string>{"fields of Arm", "value_fields of Arm"});
}

TEST_CASE("no type has two lists of its fields") {
  std::map<std::string, std::string> places;
  for (const auto& [path, text] : cachebisect::test::product_sources()) {
    for (const std::string& list : lists_in(text)) {
      CAPTURE(list);
      CAPTURE(path);
      CHECK_MESSAGE(places.emplace(list, path).second, "also in " << places[list]);
    }
  }
  CHECK(places.size() > 20);
}
