// compare: two reports, or two pipelines in turns.
#include <string>
#include <vector>

#include "cli/simulated_run.hpp"
#include "cli/starved_run.hpp"
#include "support/command.hpp"
#include "support/files.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace cachebisect::test;
using nlohmann::json;

namespace {

/// A report in virtual time: decode takes 1 ms per sample, or 3 ms if `mode` is "slow".
std::string report_in(const TemporaryFolder& folder, const std::string& name,
                      const std::string& mode) {
  const ScriptRun run = run_script(mode, {"--no-explain"});
  REQUIRE(run.report.is_object());
  return folder.write(name, run.report.dump());
}

}  // namespace

TEST_CASE("two reports are compared as text, Markdown and JSON") {
  const TemporaryFolder folder;
  const std::string a = report_in(folder, "a.json", "steady");
  const std::string b = report_in(folder, "b.json", "slow");
  const CommandResult text = run_tool({"compare", a, b});
  CHECK(text.exit_code == 0);
  CHECK(has(text.out, "decode: seconds"));
  CHECK(has(run_tool({"compare", a, b, "--format", "markdown"}).out, "| decode: seconds |"));
  const json comparison = json::parse(run_tool({"compare", a, b, "--json", "-"}).out);
  CHECK(comparison["figures"][0]["id"] == "live");
  CHECK(comparison["figures"][0]["change"]["value"].get<double>() < -0.2);
  CHECK(comparison["paired"] == false);
  CHECK(run_tool({"compare", a, "-"}, read_file(b)).exit_code == 0);
  const CommandResult slower = run_tool({"compare", a, b, "--fail-on", "live<-20%"});
  CHECK(slower.exit_code == 5);
  CHECK(has(slower.out, "gate live<-20%: fired"));
  CHECK(run_tool({"compare", b, a, "--fail-on", "live<-20%"}).exit_code == 0);
}

TEST_CASE("reports that are damaged, foreign or not comparable are refused by name") {
  const TemporaryFolder folder;
  const std::string a = report_in(folder, "a.json", "steady");
  const std::string text = read_file(a);
  const auto against = [&](const std::string& content, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"compare", a, folder.write("b.json", content)};
    words.insert(words.end(), more.begin(), more.end());
    return run_tool(words);
  };
  const CommandResult truncated = against(text.substr(0, text.size() / 2));
  CHECK(truncated.exit_code == 2);
  CHECK(has(truncated.err, "b.json:"));
  json report = json::parse(text);
  report["schema_version"] = 7;
  CHECK(has(against(report.dump()).err, "/schema_version: is 7"));
  report = json::parse(text);
  report["pipeline"]["batch_size"] = 99;
  CHECK(against(report.dump()).exit_code == 2);
  CHECK(has(against(report.dump()).err, "batch size: 8 in A, 99 in B"));
  CHECK(against(report.dump(), {"--force"}).exit_code == 0);
  CHECK(against(text, {"--fail-on", "liv<-5%"}).exit_code == 2);
  CHECK(against(text, {"--json", folder.path("none/c.json")}).exit_code == 6);
}

TEST_CASE("--run measures two pipelines in turns") {
  const TemporaryFolder folder;
  const std::string a = folder.write("a.json", starved_pipeline(250));
  const std::string b = folder.write("b.json", starved_pipeline(1000));
  const CommandResult result =
      run_tool({"compare", "--run", a, b, "--json", folder.path("c.json"), "--budget", "3"});
  CHECK(result.exit_code == 0);
  const json comparison = json::parse(read_file(folder.path("c.json")));
  CHECK(comparison["paired"] == true);
  CHECK(run_tool({"compare", "--run", a, folder.path("none.json")}).exit_code == 2);
}

TEST_CASE("an interrupted comparison shows the pairs so far") {
  const TemporaryFolder folder;
  const std::string a = folder.write("a.json", starved_pipeline(250));
  const CommandResult result =
      run_tool({"compare", "--run", a, a, "--confidence", "0.9999", "--fail-on", "live<-0.0001%"},
               "", [](pid_t child, const std::string&) {
                 await_signal_watch(child);
                 std::this_thread::sleep_for(std::chrono::seconds(2));
                 kill(child, SIGINT);
               });
  CHECK(result.exit_code == 130);
  CHECK(has(result.out, "the run was interrupted"));
}
