// `tune`: the outputs, what is refused, and that nothing is lost. What is measured is fixed work.
#include <filesystem>
#include <string>
#include <vector>

#include "cli/starved_run.hpp"
#include "support/command.hpp"
#include "support/files.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace cachebisect::test;
using nlohmann::json;

TEST_CASE("the tuned pipeline is written, runs, and holds what was kept") {
  const TemporaryFolder folder;
  const std::string kept = folder.path("tuned.json");
  const std::string ladder = folder.path("ladder.json");
  const auto result = run_tool({"tune", "--pipeline", "-", "--budget", "6", "--target", "1",
                                "--keep", kept, "--json", ladder, "--color", "never"},
                               starved_pipeline());
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(has(result.out, "The target is reached. 0 changes tried, 0 kept"));
  CHECK(has(result.out, "written: " + kept));
  CHECK(json::parse(read_file(ladder))["pipeline"] == json::parse(read_file(kept)));
  CHECK(run_tool({"check", "--pipeline", kept}).exit_code == 0);
}

TEST_CASE("an earlier ladder is gone on from") {
  const TemporaryFolder folder;
  const std::string ladder = folder.path("ladder.json");
  REQUIRE(run_tool({"tune", "--pipeline", "-", "--target", "1", "--json", ladder, "--budget", "6"},
                   starved_pipeline())
              .exit_code == 0);
  const auto again = run_tool({"tune", "--resume", ladder, "--target", "1", "--json", "-"});
  CAPTURE(again.err);
  CHECK(again.exit_code == 0);
  CHECK(json::parse(again.out)["start"] == json::parse(read_file(ladder))["start"]);
}

TEST_CASE("a scratch folder that nothing needed is not made") {
  const TemporaryFolder folder;
  const auto result = run_tool({"tune", "--pipeline", "-", "--budget", "6", "--target", "1",
                                "--scratch", folder.path("scratch")},
                               starved_pipeline());
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("what cannot be tuned is refused before anything is measured") {
  const auto refused = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "tune");
    const auto result = run_tool(arguments, starved_pipeline());
    CHECK(result.exit_code == 2);
    return result.err;
  };
  CHECK(has(refused({}), "--pipeline"));
  CHECK(has(refused({"--pipeline", "-", "--allow", "anything"}), "semantic"));
  CHECK(has(refused({"--pipeline", "-", "--budget", "0"}), "--budget"));
  CHECK(has(refused({"--pipeline", "-", "--target", "-3"}), "--target"));
  CHECK(has(refused({"--pipeline", "-", "--scratch", "/no/such"}), "--scratch /no/such"));
  CHECK(has(refused({"--scratch", "/no/such", "--", "python"}), "--scratch /no/such"));
  CHECK(has(refused({"--resume", "/nowhere.json"}), "/nowhere.json"));
  CHECK(has(refused({"--resume", "/nowhere.json", "--pipeline", "-"}), "leave out --pipeline"));
}

TEST_CASE("an output that cannot be written is refused first, and no partial file is left") {
  const TemporaryFolder folder;
  const auto result = run_tool({"tune", "--pipeline", "-", "--keep", folder.path("no/such/file")},
                               starved_pipeline());
  CHECK(result.exit_code == 6);
  CHECK(has(result.err, "no/such/file"));
  CHECK(std::filesystem::is_empty(folder.path()));
}
