// The self-test as a user runs it. Nothing here depends on how steady this machine is.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include "cli/command.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using cachebisect::test::contains;
using cachebisect::test::read_all;
using cachebisect::test::run_tool;
using cachebisect::test::TemporaryFolder;
using nlohmann::json;

namespace {

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("selftest prints a row a chain and the table, and writes both as JSON") {
  const TemporaryFolder folder;
  const auto result = run_tool({"selftest", "--cases", "2", "--seed", "3", "--budget", "2",
                                "--json", folder.file("selftest.json")});
  CHECK((result.exit_code == 0 || result.exit_code == 5));
  CHECK(result.err.empty());
  for (const char* const part :
       {"seed", "right", "wrong stage", "inconclusive", "intervals hold"}) {
    CHECK(contains(result.out, part));
  }
  const json all = json::parse(read_all(folder.file("selftest.json")));
  CHECK(all["command"] == "selftest");
  CHECK(all["interrupted"] == false);
  REQUIRE(all["chains"].size() == 2);
  CHECK(all["chains"][0]["seed"] == 3);
  CHECK(all["chains"][1]["seed"] == 4);
  const auto count = [&](const char* outcome) { return all[outcome]["count"].get<int>(); };
  CHECK(count("right") + count("wrong") + count("inconclusive") == 2);
  CHECK((count("wrong") > 0) == (result.exit_code == 5));
}

TEST_CASE("selftest --json - leaves standard output to the JSON") {
  const auto result = run_tool({"selftest", "--cases", "1", "--budget", "1", "--json", "-"});
  CHECK(json::parse(result.out)["chains"].size() == 1);
}

TEST_CASE("Ctrl-C gives the table of the chains that were done") {
  const auto after_a_row = [](pid_t child, const std::string& err) {
    const std::string out = err.substr(0, err.size() - 3) + "out";
    constexpr int kPatience = 6000;
    for (int i = 0; i < kPatience && lines(read_all(out)) < 2; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    kill(child, SIGINT);
  };
  const auto result = run_tool({"selftest", "--cases", "100000", "--budget", "1"}, "", after_a_row);
  CHECK(result.exit_code == 130);
  CHECK(contains(result.out, "intervals hold"));
}

TEST_CASE("selftest refuses what it cannot do, by name") {
  CHECK(run_tool({"selftest", "--cases", "0"}).exit_code == 2);
  CHECK(run_tool({"selftest", "--budget", "0"}).exit_code == 2);
  const auto output = run_tool({"selftest", "--json", "/no/such/folder/file.json"});
  CHECK(output.exit_code == 6);
  CHECK(output.out.empty());
}
