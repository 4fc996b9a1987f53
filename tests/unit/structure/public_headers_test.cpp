// The public face: cmake/public_headers.txt names exactly the headers that a user's includes reach,
// and the export macros tell public declarations from internal ones.
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/source_text.hpp"
#include <doctest/doctest.h>

namespace {

using cachebisect::test::includes_of;
using cachebisect::test::product_sources;
using cachebisect::test::Sources;
using cachebisect::test::Tokenizer;

/// What users include: the library call, the built-in stages, plugins, replayers of their own.
const std::vector<std::string> kEntryHeaders{
    "cachebisect/cachebisect.hpp", "cachebisect/stages.hpp", "cachebisect/pipeline/plugin.hpp",
    "cachebisect/protocol/replayer.hpp"};

/// Path by which a header is included; that of the generated header for its template.
std::string include_path(std::string path) {
  for (const std::string folder : {"src/", "stages/include/"})
    if (path.starts_with(folder)) path.erase(0, folder.size());
  if (path.ends_with(".in")) path.resize(path.size() - 3);
  return path;
}

/// Include paths of the project's headers that `entries` reach, themselves included.
std::set<std::string> reached(const std::vector<std::string>& entries, const Sources& sources) {
  std::map<std::string, std::string> headers;
  for (const auto& [path, text] : sources) headers[include_path(path)] = text;
  std::set<std::string> found;
  std::vector<std::string> queue = entries;
  while (!queue.empty()) {
    const std::string header = queue.back();
    queue.pop_back();
    if (!header.starts_with("cachebisect/") || !found.insert(header).second) continue;
    for (const std::string& include : includes_of(headers[header])) queue.push_back(include);
  }
  return found;
}

std::vector<std::string> differences(const std::set<std::string>& listed,
                                     const std::set<std::string>& wanted) {
  std::vector<std::string> lines;
  for (const std::string& header : wanted)
    if (!listed.contains(header)) lines.push_back("missing: " + header);
  for (const std::string& header : listed)
    if (!wanted.contains(header)) lines.push_back("not public: " + header);
  return lines;
}

/// What is wrong with the export macros of each file.
std::vector<std::string> wrong_macros(const Sources& sources, const std::set<std::string>& listed) {
  std::vector<std::string> lines;
  for (const auto& [path, text] : sources) {
    if (path == "src/cachebisect/base/export.hpp") continue;
    const bool is_public = listed.contains(include_path(path));
    const std::string right = is_public ? "CACHEBISECT_API" : "CACHEBISECT_INTERNAL_API";
    const std::string wrong = is_public ? "CACHEBISECT_INTERNAL_API" : "CACHEBISECT_API";
    for (const std::string& token : Tokenizer::tokens_of(text)) {
      if (token != wrong) continue;
      lines.push_back(path + ": " + wrong + " instead of " + right);
      break;
    }
  }
  return lines;
}

std::set<std::string> listed_headers() {
  std::ifstream file(std::string(CACHEBISECT_SOURCE_DIR) + "/cmake/public_headers.txt");
  std::set<std::string> headers;
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line.front() != '#') headers.insert(line);
  return headers;
}

}  // namespace

TEST_CASE("cmake/public_headers.txt names what users' includes reach, and nothing else") {
  const std::set<std::string> listed = listed_headers();
  CHECK(listed.size() > 20);
  for (const std::string& line : differences(listed, reached(kEntryHeaders, product_sources())))
    FAIL_CHECK("cmake/public_headers.txt: " << line);
}

TEST_CASE("public headers and internal files use their own export macro") {
  for (const std::string& line : wrong_macros(product_sources(), listed_headers()))
    FAIL_CHECK(line);
}

TEST_CASE("the check of the list finds missing and superfluous headers") {
  const Sources sources{
      {"src/cachebisect/a.hpp", "#include \"cachebisect/b.hpp\"\n#include <vector>\n"},
      {"src/cachebisect/b.hpp.in", "#include \"cachebisect/c.hpp\"\n"},
      {"stages/include/cachebisect/c.hpp", "#include \"cachebisect/a.hpp\"\n"},
      {"src/cachebisect/d.hpp", "#include \"cachebisect/a.hpp\"\n"}};
  const std::set<std::string> wanted = reached({"cachebisect/a.hpp"}, sources);
  CHECK(wanted ==
        std::set<std::string>{"cachebisect/a.hpp", "cachebisect/b.hpp", "cachebisect/c.hpp"});
  CHECK(differences(wanted, wanted).empty());
  CHECK(differences({"cachebisect/a.hpp", "cachebisect/b.hpp", "cachebisect/d.hpp"}, wanted) ==
        std::vector<std::string>{"missing: cachebisect/c.hpp", "not public: cachebisect/d.hpp"});
}

TEST_CASE("the check of the macros finds each one in the wrong place") {
  const std::set<std::string> listed{"cachebisect/a.hpp", "cachebisect/stages.hpp",
                                     "cachebisect/version.hpp"};
  const auto wrong = [&](const std::string& path, const std::string& text) {
    return wrong_macros({{path, text}}, listed).size();
  };
  CHECK(wrong("src/cachebisect/a.hpp", "CACHEBISECT_API int f();\n") == 0);
  CHECK(wrong("src/cachebisect/a.hpp", "CACHEBISECT_INTERNAL_API int f();\n") == 1);
  CHECK(wrong("stages/include/cachebisect/stages.hpp", "CACHEBISECT_INTERNAL_API int f();\n") == 1);
  CHECK(wrong("src/cachebisect/version.hpp.in", "CACHEBISECT_INTERNAL_API int f();\n") == 1);
  CHECK(wrong("src/cachebisect/b.hpp", "CACHEBISECT_INTERNAL_API int f();\n") == 0);
  CHECK(wrong("src/cachebisect/b.hpp", "CACHEBISECT_API int f();\n") == 1);
  CHECK(wrong("stages/codecs/b.hpp", "class CACHEBISECT_API B {};\n") == 1);
  CHECK(wrong("src/torch/module.cpp", "extern \"C\" CACHEBISECT_API int f() { return 0; }\n") == 1);
  CHECK(wrong("src/cachebisect/b.hpp", "// CACHEBISECT_API is for users.\n") == 0);
}
