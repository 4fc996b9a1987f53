// The self-test as a user runs it. Nothing here depends on how quiet the machine is.
#include <string>

#include "cli/starved_run.hpp"
#include "support/command.hpp"
#include "support/files.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace cachebisect::test;
using nlohmann::json;

TEST_CASE("selftest prints a row per chain and the table, and writes both as JSON") {
  const TemporaryFolder folder;
  const auto result = run_tool({"selftest", "--cases", "2", "--seed", "3", "--budget", "2",
                                "--json", folder.path("selftest.json")});
  CHECK((result.exit_code == 0 || result.exit_code == 5));
  CHECK(result.err.empty());
  for (const char* const part :
       {"seed", "right", "wrong stage", "inconclusive", "intervals hold"}) {
    CHECK(has(result.out, part));
  }
  const json all = json::parse(read_file(folder.path("selftest.json")));
  CHECK(all["command"] == "selftest");
  CHECK(all["interrupted"] == false);
  REQUIRE(all["chains"].size() == 2);
  CHECK(all["chains"][0]["seed"] == 3);
  CHECK(all["chains"][1]["seed"] == 4);
  const auto count = [&](const char* outcome) { return all[outcome]["count"].get<int>(); };
  CHECK(count("right") + count("wrong") + count("inconclusive") == 2);
  CHECK((count("wrong") > 0) == (result.exit_code == 5));
}

TEST_CASE("selftest --json - prints only JSON on standard output") {
  const auto result = run_tool({"selftest", "--cases", "1", "--budget", "1", "--json", "-"});
  CHECK(json::parse(result.out)["chains"].size() == 1);
}

TEST_CASE("Ctrl-C prints the table of the finished chains") {
  const auto result =
      run_tool({"selftest", "--cases", "100000", "--budget", "1"}, "", interrupt_after_lines(2));
  CHECK(result.exit_code == 130);
  CHECK(has(result.out, "intervals hold"));
}

TEST_CASE("selftest refuses invalid options by name") {
  CHECK(run_tool({"selftest", "--cases", "0"}).exit_code == 2);
  CHECK(run_tool({"selftest", "--budget", "0"}).exit_code == 2);
  CHECK(run_tool({"selftest", "--device", "cpu"}).exit_code == 2);
  const auto output = run_tool({"selftest", "--json", "/no/such/folder/file.json"});
  CHECK(output.exit_code == 6);
  CHECK(output.out.empty());
}

TEST_CASE("selftest and doctor say that there is no such CUDA device") {
  for (const char* const command : {"selftest", "doctor"}) {
    const auto result = run_tool({command, "--device", "cuda:999"});
    CHECK(result.exit_code == 4);
    CHECK(result.out.empty());
    CHECK_FALSE(result.err.empty());
  }
}
