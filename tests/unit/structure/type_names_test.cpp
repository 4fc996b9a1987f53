// One definition per type name: two types of one name in one namespace break the language's
// one-definition rule without a message from compiler or linker.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/source_text.hpp"
#include <doctest/doctest.h>

namespace {

using cachebisect::test::product_sources;
using cachebisect::test::Sources;
using cachebisect::test::Tokenizer;

using Tokens = std::vector<std::string>;

/// The tokens after `template <...>`, if there is one.
Tokens without_template(const Tokens& head) {
  if (head.empty() || head.front() != "template") return head;
  int depth = 0;
  for (std::size_t i = 1; i < head.size(); ++i) {
    depth += head[i] == "<" ? 1 : 0;
    depth -= head[i] == ">" ? 1 : 0;
    if (depth == 0) return {head.begin() + static_cast<std::ptrdiff_t>(i) + 1, head.end()};
  }
  return {};
}

/// The name that the tokens before a `{` define as a type; empty if they define none.
std::string defined_type(const Tokens& head) {
  const Tokens tokens = without_template(head);
  const std::set<std::string> keywords{"struct", "class", "union", "enum"};
  if (tokens.empty() || !keywords.contains(tokens.front())) return {};
  std::string name;
  for (auto token = tokens.begin() + 1; token != tokens.end() && *token != ":"; ++token) {
    if (*token == "(") return {};  // a function that returns a struct
    if (keywords.contains(*token) || *token == "final" || token->ends_with("_API")) continue;
    name += *token;
  }
  return name;
}

/// Collects the types that a file defines at namespace scope, outside anonymous namespaces.
class TypeScan {
 public:
  static std::set<std::string> types_in(const std::string& source) {
    TypeScan scan;
    for (const std::string& token : Tokenizer::tokens_of(source)) scan.take(token);
    CHECK_MESSAGE(scan.scopes_.empty(), "unbalanced braces");
    return std::move(scan.types_);
  }

 private:
  struct Scope {
    bool is_namespace = false;
    std::string name;  ///< empty: anonymous
  };

  void take(const std::string& token) {
    if (token == "{") {
      open();
    } else if (token == "}") {
      if (!scopes_.empty()) scopes_.pop_back();
    } else if (token != ";") {
      head_.push_back(token);
      return;
    }
    head_.clear();
  }
  void open() {
    const auto keyword = std::find(head_.begin(), head_.end(), "namespace");
    if (keyword != head_.end()) {
      std::string name;
      for (auto part = keyword + 1; part != head_.end(); ++part) name += *part;
      scopes_.push_back({.is_namespace = true, .name = name});
      return;
    }
    const std::string type = defined_type(head_);
    const bool visible = std::all_of(scopes_.begin(), scopes_.end(), [](const Scope& scope) {
      return scope.is_namespace && !scope.name.empty();
    });
    if (visible && !type.empty()) {
      std::string prefix;
      for (const Scope& scope : scopes_) prefix += scope.name + "::";
      types_.insert(prefix + type);
    }
    scopes_.push_back({});
  }

  Tokens head_;  ///< since the last `;`, `{` or `}`
  std::vector<Scope> scopes_;
  std::set<std::string> types_;
};

/// The types that more than one file defines, each with those files.
std::vector<std::string> defined_twice(const Sources& sources) {
  std::map<std::string, std::vector<std::string>> files;
  for (const auto& [path, text] : sources)
    for (const std::string& type : TypeScan::types_in(text)) files[type].push_back(path);
  std::vector<std::string> lines;
  for (const auto& [type, paths] : files) {
    if (paths.size() < 2) continue;
    std::string line = type + ":";
    for (const std::string& path : paths) line += " " + path;
    lines.push_back(line);
  }
  return lines;
}

}  // namespace

TEST_CASE("no type name is defined twice in one namespace") {
  const Sources sources = product_sources();
  std::size_t types = 0;
  for (const auto& [path, text] : sources) types += TypeScan::types_in(text).size();
  CHECK(types > 200);
  for (const std::string& line : defined_twice(sources)) FAIL_CHECK(line);
}

TEST_CASE("the scan finds every form of a definition") {
  const auto types = [](const std::string& text) { return TypeScan::types_in(text); };
  using Names = std::set<std::string>;
  CHECK(types("namespace a::b {\nstruct Size { int width; };\n}\n") == Names{"a::b::Size"});
  CHECK(types("namespace a { namespace b { class Size final : public Base {}; } }") ==
        Names{"a::b::Size"});
  CHECK(types("namespace a { enum class Kind : int { one, two }; }") == Names{"a::Kind"});
  CHECK(types("namespace a { template <class T> class CACHEBISECT_API Size {}; }") ==
        Names{"a::Size"});
  CHECK(types("namespace a { struct Outer::State { struct Inner {}; }; }") ==
        Names{"a::Outer::State"});
  CHECK(types("namespace a { class Declared; struct stat status() { return {}; } }").empty());
  CHECK(types("namespace a { void f() { struct Local {}; } }").empty());
  CHECK(types("namespace a { namespace { struct Hidden {}; } }").empty());
  CHECK(types("// struct A {}\nconst char* b = \"struct B {}\"; auto c = R\"(struct C {})\";\n"
              "#define D struct D { \\\n }\nint e = 1'000;\n")
            .empty());
}

TEST_CASE("the check finds a name that two files define") {
  const std::string size = "namespace a { struct Size { int width; }; }";
  CHECK(defined_twice({{"one.hpp", size}, {"two.cpp", size}}) ==
        std::vector<std::string>{"a::Size: one.hpp two.cpp"});
  CHECK(defined_twice({{"one.hpp", size}, {"two.hpp", "namespace b { struct Size {}; }"}}).empty());
  CHECK(defined_twice(
            {{"one.hpp", size}, {"two.cpp", "namespace a { namespace { struct Size {}; } }"}})
            .empty());
}
