// The tuned numbers of the method: few, and each with its reason.
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/source_text.hpp"
#include <doctest/doctest.h>

namespace {

using cachebisect::test::product_sources;

/// Indices, counts of what a program has, units, lengths of texts, and what follows from other
/// constants: nothing that was tuned.
const std::set<std::string> kNotTuned{"kLive",
                                      "kCeiling",
                                      "kSmall",
                                      "kLarge",
                                      "kEnds",
                                      "kServers",
                                      "kTop",
                                      "kBytesPerGb",
                                      "kBytesOfHalf",
                                      "kBytesOfHalfSize",
                                      "kBytesOfFloat",
                                      "kMostShown",
                                      "kMostShownRemedies",
                                      "kMostFiles",
                                      "kMaxNamed",
                                      "kEveryPair",
                                      "kErrorOfMedian",
                                      "kSizeWeight"};

struct TunedNumbers {
  int count = 0;
  std::vector<std::string> without_reason;
};

/// Constants that are set to a number. A comment in the line, or up to two lines above, gives the
/// reason of one, or of several in a row.
TunedNumbers tuned_numbers_in(const std::string& source) {
  static const std::regex constant(R"re(constexpr [^;]*\b(k[A-Z]\w*) ?(=|\{)[^";]*\b[0-9])re");
  TunedNumbers numbers;
  constexpr int kFar = 3;
  int lines_since_reason = kFar;
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    const bool number = std::regex_search(line, found, constant);
    if (line.find("//") != std::string::npos) {
      lines_since_reason = 0;
    } else if (!number) {
      ++lines_since_reason;
    }
    if (!number || kNotTuned.contains(found[1].str())) continue;
    ++numbers.count;
    if (lines_since_reason >= kFar) numbers.without_reason.push_back(found[1].str());
  }
  return numbers;
}

}  // namespace

TEST_CASE("numbers are counted with their reasons") {
  const TunedNumbers numbers = tuned_numbers_in(
      "constexpr double kFirst = 0.5;\n"
      "/// Why.\nconstexpr int kSecond = 3;\nconstexpr std::array kThird{1.5, 2.0};\n"
      "constexpr int kFourth = 3;  ///< why\n"
      "constexpr int kCeiling = 1;\nconstexpr int kDerived = kSecond;\n"
      "constexpr std::string_view kText = \"1\";\n");
  CHECK(numbers.count == 4);
  CHECK(numbers.without_reason == std::vector<std::string>{"kFirst"});
}

TEST_CASE("the method has few tuned numbers, and each its reason") {
  int count = 0;
  for (const auto& [path, text] : product_sources()) {
    if (!path.starts_with("src/cachebisect/bisect/")) continue;
    CAPTURE(path);
    const TunedNumbers numbers = tuned_numbers_in(text);
    count += numbers.count;
    for (const std::string& name : numbers.without_reason) {
      CAPTURE(name);
      FAIL_CHECK("a tuned number without a comment that says why");
    }
  }
  MESSAGE(count << " tuned numbers");
  // A new number takes the place of an old one, or says the same as one in record/bars.hpp.
  CHECK(count <= 131);
}
