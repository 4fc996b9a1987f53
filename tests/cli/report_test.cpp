// `report FILE`: a recorded run in any format, without measuring.
#include <string>

#include "cli/starved_run.hpp"
#include "support/command.hpp"
#include "support/files.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace cachebisect::test;
using nlohmann::json;

namespace {

/// A short run with its terminal report and its recording.
CommandResult record(const std::string& file) {
  return run_tool({"--pipeline", "-", "--budget", "0.5", "--no-explain", "--json", file},
                  starved_pipeline());
}

}  // namespace

TEST_CASE("a recording is shown as its run was, and in other formats") {
  const TemporaryFolder folder;
  const std::string file = folder.path("run.json");
  const CommandResult run = record(file);
  REQUIRE(run.exit_code == 0);
  const CommandResult shown = run_tool({"report", file});
  CHECK(shown.exit_code == 0);
  CHECK(run.out == shown.out + "written: " + file + "\n");
  const std::string page = folder.path("page.html");
  CHECK(run_tool({"report", file, "--html", page, "--quiet"}).exit_code == 0);
  CHECK(has(read_file(page), "<!DOCTYPE html>"));
  const CommandResult copy = run_tool({"report", file, "--json", "-"});
  CHECK(json::parse(copy.out) == json::parse(read_file(file)));
}

TEST_CASE("a recording answers other questions") {
  const TemporaryFolder folder;
  const std::string file = folder.path("run.json");
  REQUIRE(record(file).exit_code == 0);
  const CommandResult strict = run_tool({"report", file, "--min-drop", "90%", "--json", "-"});
  CHECK(strict.exit_code == 0);
  CHECK(json::parse(strict.out)["settings"]["min_drop"] == 0.9);
  CHECK(
      run_tool({"report", file, "--fail-on", "drop,spread,flat,anomaly,inconclusive"}).exit_code ==
      5);
  CHECK(has(run_tool({"report", file, "--what-if", "slow=free"}).out, "slow=free"));
}

TEST_CASE("what cannot be reported is refused, and nothing is replaced") {
  const TemporaryFolder folder;
  const std::string file = folder.path("run.json");
  REQUIRE(record(file).exit_code == 0);
  const std::string before = read_file(file);
  const CommandResult itself = run_tool({"report", file, "--json", file});
  CHECK(itself.exit_code == 2);
  CHECK(has(itself.err, "would replace the recording itself"));
  CHECK(read_file(file) == before);
  const CommandResult none = run_tool({"report", folder.path("none.json")});
  CHECK(none.exit_code == 2);
  CHECK(has(none.err, "cannot be opened"));
  CHECK(run_tool({"report", file, "--min-drop", "none"}).exit_code == 2);
  CHECK(run_tool({"report", file, "--confidence", "2"}).exit_code == 2);
  json old = json::parse(before);
  old.erase("recording");
  const std::string older = folder.write("old.json", old.dump());
  const CommandResult shown = run_tool({"report", older});
  CHECK(shown.exit_code == 0);
  CHECK(has(shown.err, "has no recording"));
  const CommandResult asked = run_tool({"report", older, "--min-drop", "1%"});
  CHECK(asked.exit_code == 2);
  CHECK(has(asked.err, "has no recording"));
}
