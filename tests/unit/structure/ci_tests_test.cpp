// What CI runs holds on any machine at any load: no test that it runs decides by a wall clock, and
// none expects the verdict of a run in real time. Such tests have the label nightly.
#include <algorithm>
#include <array>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/files.hpp"
#include "support/source_text.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

namespace fs = std::filesystem;
using cachebisect::test::has;
using cachebisect::test::includes_of;
using cachebisect::test::read_file;
using cachebisect::test::Tokenizer;

namespace {

const std::string kTests = CACHEBISECT_SOURCE_DIR "/tests/";

/// What reads the time of day, or time since some start, in C++ and C.
const std::set<std::string> kClocks{"steady_clock", "system_clock",      "high_resolution_clock",
                                    "utc_clock",    "monotonic_seconds", "clock_gettime",
                                    "gettimeofday", "timespec_get",      "ftime"};

/// What may read it: its only questions have one answer at any load (passed_time.hpp), or it gives
/// virtual devices the time that real ones would take (cuda_stub).
bool may_read_a_clock(const std::string& file) {
  return file == "support/passed_time.hpp" || file.starts_with("cuda_stub/");
}

std::set<std::string> clocks_in(const std::string& source) {
  std::set<std::string> found;
  for (const std::string& token : Tokenizer::tokens_of(source)) {
    if (kClocks.contains(token)) found.insert(token);
  }
  return found;
}

/// A verdict other than "not decided yet", of a pipeline that the tool itself runs.
bool expects_a_real_verdict(const std::string& source) {
  static const std::regex kDecided(
      R"re(\["verdict"\]\["(stage|drop|fix_first)"\] ==|\["kind"\] == "(drop|flat|spread|anomaly)")re");
  const bool simulated = has(source, "run_script(") || has(source, "fake_adapter");
  return !simulated && has(source, "run_tool(") && std::regex_search(source, kDecided);
}

/// The file and those of tests/ that it includes, by path from there.
void gather(const std::string& file, std::set<std::string>& files) {
  if (!fs::exists(kTests + file) || !files.insert(file).second) return;
  for (const std::string& included : includes_of(read_file(kTests + file))) gather(included, files);
}

struct CiTest {
  std::string name;
  std::string label;
};

/// The tests that ctest knows, with their labels.
std::vector<CiTest> all_tests() {
  static const std::regex kLabel(
      R"re(set_tests_properties\(\[=\[([^\]]*)\]=\] PROPERTIES .*LABELS "([^"]*)")re");
  std::vector<CiTest> tests;
  std::istringstream lines(read_file(CACHEBISECT_BINARY_DIR "/tests/CTestTestfile.cmake"));
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_search(line, match, kLabel)) tests.push_back({match[1], match[2]});
  }
  return tests;
}

}  // namespace

TEST_CASE("no test that CI runs decides by a wall clock, or expects a verdict in real time") {
  int looked_at = 0;
  bool nightly = false;
  for (const CiTest& test : all_tests()) {
    if (test.label == "nightly") nightly = true;
    if (test.label == "nightly" || test.label == "gpu" || !fs::exists(kTests + test.name + ".cpp"))
      continue;
    ++looked_at;
    std::set<std::string> files;
    gather(test.name + ".cpp", files);
    for (const std::string& file : files) {
      CAPTURE(test.name);
      CAPTURE(file);
      const std::string source = read_file(kTests + file);
      CHECK((clocks_in(source).empty() || may_read_a_clock(file)));
      CHECK_FALSE(expects_a_real_verdict(source));
    }
  }
  CHECK(looked_at > 150);
  CHECK(nightly);
}

TEST_CASE("a clock and a real verdict are found where they are planted") {
  CHECK(clocks_in("auto t = std::chrono::steady_clock::now();") ==
        std::set<std::string>{"steady_clock"});
  CHECK(clocks_in("CHECK(cachebisect::monotonic_seconds() - start < 2);").size() == 1);
  CHECK(clocks_in("// steady_clock\nauto text = \"steady_clock\";").empty());
  CHECK(expects_a_real_verdict(
      R"(run_tool({"--pipeline", file}); CHECK(report["verdict"]["stage"] == "slow");)"));
  CHECK(expects_a_real_verdict(R"(run_tool({}); CHECK(verdict["kind"] == "drop");)"));
  CHECK_FALSE(expects_a_real_verdict(R"(run_tool({}); CHECK(verdict["kind"] == "inconclusive");)"));
  CHECK_FALSE(expects_a_real_verdict(R"(run_script("ok"); CHECK(verdict["kind"] == "drop");)"));
}

// What a build leaves out is defined for single sources: the wheel finds the others of the core in
// the compiler cache of the release build.
TEST_CASE("no definition of an option reaches every source of the core") {
  const std::string file = read_file(CACHEBISECT_SOURCE_DIR "/src/cachebisect/CMakeLists.txt");
  CHECK(has(file, "COMPILE_DEFINITIONS CACHEBISECT_WITH_CODECS"));
  CHECK_FALSE(has(file, "target_compile_definitions(core"));
}
