// Ctrl-C at any time: what is known by then is reported, files are whole, and the exit code says
// so.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using cachebisect::test::await_text;
using cachebisect::test::contains;
using cachebisect::test::During;
using cachebisect::test::read_all;
using cachebisect::test::run_tool;
using cachebisect::test::starved_pipeline;
using cachebisect::test::TemporaryFolder;
using nlohmann::json;

namespace {

/// Steps so long that a phase takes many times as long as a look at the log.
constexpr int kLongMicroseconds = 1500;

/// Sends `signal` once `mark` stands in the log.
During signal_at(std::string mark, int signal) {
  return [mark = std::move(mark), signal](pid_t child, const std::string& log) {
    await_text(log, [&](const std::string& text) { return contains(text, mark); });
    kill(child, signal);
  };
}

bool leftovers(const std::string& folder) {
  const std::filesystem::recursive_directory_iterator all(folder);
  return std::any_of(begin(all), end(all),
                     [](const auto& entry) { return contains(entry.path().string(), ".tmp"); });
}

struct Interrupted {
  int exit_code = 0;
  std::string out;
  json report;
  std::string text;
  bool leftovers = false;
};

Interrupted interrupt(const std::string& mark, int signal, std::vector<std::string> more = {}) {
  const TemporaryFolder folder;
  std::vector<std::string> words{
      "--pipeline",  folder.write("p.json", starved_pipeline(kLongMicroseconds)),
      "--budget",    "600",
      "--log-level", "debug",
      "--out",       folder.path()};
  words.insert(words.end(), more.begin(), more.end());
  const auto result = run_tool(words, "", signal_at(mark, signal));
  const std::string file = read_all(folder.file("report.json"));
  REQUIRE_MESSAGE(json::accept(file), result.err);
  return {result.exit_code, result.out, json::parse(file), read_all(folder.file("report.txt")),
          leftovers(folder.path())};
}

}  // namespace

TEST_CASE("Ctrl-C in the pilot leaves a report that says that nothing is known yet") {
  const Interrupted run = interrupt("pilot, round", SIGINT);
  CHECK(run.exit_code == 130);
  CHECK(run.report["interrupted"] == true);
  CHECK(run.report["verdict"]["kind"] == "inconclusive");
  CHECK(contains(run.out, "(interrupted)"));
  CHECK_FALSE(run.leftovers);
}

TEST_CASE("Ctrl-C while the verdict is explained keeps the verdict") {
  const Interrupted run = interrupt("explain, round", SIGINT);
  CHECK(run.exit_code == 130);
  CHECK(run.report["interrupted"] == true);
  CHECK(run.report["verdict"]["kind"] == "drop");
  CHECK(run.report["verdict"]["stage"] == "slow");
  CHECK(contains(run.out, "slow costs"));
  CHECK(contains(run.text, "slow costs"));
  CHECK_FALSE(run.leftovers);
}

TEST_CASE("a termination while what-ifs are run keeps verdict and predictions") {
  const Interrupted run =
      interrupt("verify, round", SIGTERM, {"--what-if", "workers=2", "--verify"});
  CHECK(run.exit_code == 143);
  CHECK(run.report["interrupted"] == true);
  CHECK(run.report["verdict"]["stage"] == "slow");
  REQUIRE(run.report["what_ifs"].size() == 1);
  CHECK(run.report["what_ifs"][0]["change"] == "workers=2");
  CHECK_FALSE(run.leftovers);
}

TEST_CASE("Ctrl-C leaves the self-test's file whole, with the chains that were done") {
  const TemporaryFolder folder;
  const auto after_a_row = [](pid_t child, const std::string& log) {
    const std::string out = log.substr(0, log.size() - 3) + "out";
    await_text(out, [](const std::string& text) {
      return std::count(text.begin(), text.end(), '\n') >= 2;
    });
    kill(child, SIGINT);
  };
  const auto result = run_tool(
      {"selftest", "--cases", "100000", "--budget", "1", "--json", folder.file("selftest.json")},
      "", after_a_row);
  CHECK(result.exit_code == 130);
  const std::string file = read_all(folder.file("selftest.json"));
  REQUIRE(json::accept(file));
  CHECK(json::parse(file)["interrupted"] == true);
  CHECK_FALSE(leftovers(folder.path()));
}
