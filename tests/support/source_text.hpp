// The project's sources as text, for tests of its structure.
#pragma once

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cachebisect::test {

/// Text of each file by its path from the repository's root.
using Sources = std::map<std::string, std::string>;

/// Every file below src/ and stages/ that is, or generates, C++ or CUDA.
inline Sources product_sources() {
  const std::filesystem::path root(CACHEBISECT_SOURCE_DIR);
  const std::set<std::string> extensions{".hpp", ".cpp", ".cu", ".in"};
  Sources sources;
  for (const char* const folder : {"src", "stages"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (!extensions.contains(entry.path().extension().string())) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      sources[std::filesystem::relative(entry.path(), root).generic_string()] =
          std::string(std::istreambuf_iterator<char>(file), {});
    }
  }
  return sources;
}

/// What follows #include in each line, without quotes or angle brackets.
inline std::vector<std::string> includes_of(const std::string& source) {
  std::vector<std::string> all;
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t hash = line.find_first_not_of(" \t");
    if (hash == std::string::npos || line[hash] != '#') continue;
    const std::size_t word = line.find_first_not_of(" \t", hash + 1);
    if (word == std::string::npos || line.compare(word, 7, "include") != 0) continue;
    const std::size_t open = line.find_first_of("<\"", word);
    const std::size_t close = line.find_first_of(">\"", open + 1);
    if (open == std::string::npos || close == std::string::npos) continue;
    all.push_back(line.substr(open + 1, close - open - 1));
  }
  return all;
}

/// Splits C++ into identifiers, "::" and single punctuation characters. Leaves out comments,
/// literals and preprocessor lines.
class Tokenizer {
 public:
  static std::vector<std::string> tokens_of(std::string_view source) {
    Tokenizer tokenizer(source);
    while (!tokenizer.rest_.empty()) tokenizer.step();
    return std::move(tokenizer.tokens_);
  }

 private:
  explicit Tokenizer(std::string_view source) : rest_(source) {}

  static bool in_identifier(char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  }

  void step() {
    const char c = rest_.front();
    const bool line_starts = line_starts_;
    if (std::isspace(static_cast<unsigned char>(c)) == 0) line_starts_ = false;
    if (rest_.starts_with("//")) {
      skip_to("\n", 2);
    } else if (rest_.starts_with("/*")) {
      skip_to("*/", 2);
    } else if (c == '#' && line_starts) {
      skip_directive();
    } else if (c == '"' || c == '\'') {
      skip_quoted(c);
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      (void)take_while(
          [](char next) { return in_identifier(next) || next == '\'' || next == '.'; });
    } else if (in_identifier(c)) {
      take_identifier();
    } else {
      take_punctuation(c);
    }
  }
  void skip_to(std::string_view end, std::size_t from) {
    const std::size_t at = rest_.find(end, from);
    if (end == "\n") line_starts_ = true;
    rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at + end.size());
  }
  void skip_directive() {
    bool continued = true;
    while (continued && !rest_.empty()) {
      const std::size_t end = rest_.find('\n');
      continued = end != std::string_view::npos && end > 0 && rest_[end - 1] == '\\';
      skip_to("\n", 0);
    }
  }
  void skip_quoted(char quote) {
    std::size_t at = 1;
    while (at < rest_.size() && rest_[at] != quote) at += rest_[at] == '\\' ? 2 : 1;
    rest_.remove_prefix(std::min(at + 1, rest_.size()));
  }
  template <class Condition>
  std::string_view take_while(Condition condition) {
    std::size_t size = 0;
    while (size < rest_.size() && condition(rest_[size])) ++size;
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  void take_identifier() {
    const std::string_view identifier = take_while(in_identifier);
    if (!identifier.ends_with('R') || !rest_.starts_with('"')) {
      tokens_.emplace_back(identifier);
      return;
    }
    const std::string delimiter(rest_.substr(1, rest_.find('(') - 1));
    skip_to(")" + delimiter + "\"", 0);
  }
  void take_punctuation(char c) {
    const std::size_t size = rest_.starts_with("::") ? 2 : 1;
    if (c == '\n') line_starts_ = true;
    if (std::isspace(static_cast<unsigned char>(c)) == 0)
      tokens_.emplace_back(rest_.substr(0, size));
    rest_.remove_prefix(size);
  }

  std::string_view rest_;
  std::vector<std::string> tokens_;
  bool line_starts_ = true;
};

}  // namespace cachebisect::test
