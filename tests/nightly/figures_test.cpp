// Figures of whole runs in real time: shares, predictions, and the tool's own floor.
#include <string>

#include "cli/starved_run.hpp"
#include "support/command.hpp"
#include "support/files.hpp"
#include "support/lacking.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace cachebisect::test;
using nlohmann::json;

TEST_CASE("time finds the planted wait") {
  const TemporaryFolder folder;
  const auto result =
      run_tool({"time", "--pipeline", "-", "--save-dir", folder.path(), "--epochs", "1",
                "--max-batches", "40", "--no-progress", "--json", folder.path("summary.json")},
               starved_pipeline(500));
  CHECK(result.exit_code == 0);
  CHECK(has(result.out, "more than 40%: the input limits the training"));
  const json summary = json::parse(read_file(folder.path("summary.json")));
  CHECK(summary["runs"][0]["parts"]["load"]["share"].get<double>() > 0.4);
}

TEST_CASE("what-ifs are predicted, on the terminal and in JSON") {
  const auto text = run_tool(
      {"--pipeline", "-", "--budget", "2", "--what-if", "workers=4", "--what-if", "slow=free"},
      starved_pipeline());
  CHECK(text.exit_code == 0);
  CHECK(has(text.out, "what if, samples/s"));
  CHECK(has(text.out, "workers=4"));
  CHECK(has(text.out, "slow=free"));
  const auto result = run_tool({"--pipeline", "-", "--budget", "2", "--json", "-", "--what-if",
                                "slow=free", "--what-if", "stages.slow.us=10"},
                               starved_pipeline());
  REQUIRE(result.exit_code == 0);
  const json report = json::parse(result.out);
  REQUIRE(report["what_ifs"].size() == 2);
  const json& freed = report["what_ifs"][0];
  CHECK(freed["change"] == "slow=free");
  const double live = report["live"]["samples_per_second"];
  CHECK(freed["predicted"]["samples_per_second"].get<double>() > live);
  CHECK(freed["predicted"]["interval"][0] <= freed["predicted"]["samples_per_second"]);
  CHECK(report["what_ifs"][1]["predicted"]["samples_per_second"].is_null());
  CHECK(has(report["what_ifs"][1]["note"].get<std::string>(), "--verify"));
  CHECK(report["boundaries"][0]["predicted_samples_per_second"].get<double>() > 0);
}

TEST_CASE("a pipeline that costs hardly more than the tool gets no verdict") {
  const auto result = run_tool({"--pipeline", "-", "--budget", "3", "--json", "-"}, R"({
    "name": "cheap", "batch_size": 64, "workers": 1,
    "stages": [{"use": "synthetic.read", "bytes": 4, "samples": 100000}, {"use": "collate.stack"},
               {"use": "copy.device"}],
    "train": {"kind": "emulated"}, "device": "emulated", "emulate": {"step_ms": 0.01}})");
  REQUIRE(result.exit_code == 0);
  const json report = json::parse(result.out);
  const json& floor = report["machine"]["floor"];
  CHECK(floor["ns_per_sample"].get<double>() > 0);
  const double own =
      1e-9 * floor["ns_per_sample"].get<double>() + 1e-6 * floor["us_per_batch"].get<double>() / 64;
  // With other load, the live pipeline may take many times longer than the tool alone.
  const json& live = report["boundaries"][0]["seconds_per_sample"];
  REQUIRE_FALSE(live.is_null());
  if (live.get<double>() > 5 * own) return skip("a core that nothing else uses");
  CHECK(report["verdict"]["kind"] == "inconclusive");
  CHECK(report["verdict"]["stage"].is_null());
  CHECK(has(report["warnings"].dump(), "near_floor"));
}

TEST_CASE("--run measures two pipelines in turns, and the gate fires on the slower one alone") {
  const TemporaryFolder folder;
  const std::string a = folder.write("a.json", starved_pipeline(250));
  const std::string b = folder.write("b.json", starved_pipeline(1000));
  const std::vector<std::string> gate{"--fail-on", "live<-20%", "--budget", "100"};
  const auto compared = [&](const std::string& from, const std::string& to) {
    std::vector<std::string> words{"compare", "--run", from, to, "--json", folder.path("c.json")};
    words.insert(words.end(), gate.begin(), gate.end());
    return run_tool(words);
  };
  const CommandResult slower = compared(a, b);
  CHECK(slower.exit_code == 5);
  CHECK(has(slower.out, "gate live<-20%: fired"));
  const json comparison = json::parse(read_file(folder.path("c.json")));
  CHECK(comparison["paired"] == true);
  CHECK(comparison["rounds"].get<int>() > 5);
  CHECK(comparison["gates"][0]["outcome"] == "fired");
  CHECK(compared(b, a).exit_code == 0);
  CHECK(run_tool({"compare", "--run", a, folder.path("none.json")}).exit_code == 2);
}

TEST_CASE("the CPU time of short blocks is that of their timed steps") {
  // A worker computes 20 ms for each batch of 4; blocks are 3 steps long.
  const auto result = run_tool({"--pipeline", "-", "--budget", "3", "--json", "-"}, R"({
    "name": "burning", "batch_size": 4, "workers": 1,
    "stages": [{"use": "synthetic.read", "bytes": 4, "samples": 100000},
               {"use": "synthetic.cpu", "us": 5000}, {"use": "collate.stack"},
               {"use": "copy.device", "prefetch": 2}],
    "train": {"kind": "emulated"}, "device": "emulated", "emulate": {"step_ms": 8}})");
  REQUIRE(result.exit_code == 0);
  const json report = json::parse(result.out);
  int blocks = 0;
  for (const json& block : report["blocks"]) {
    if (block["arm"] != "replay" || block["boundary"] != 0 || block["round"] < 0) continue;
    ++blocks;
    const double per_step = block["cpu_seconds"].get<double>() / block["steps"].get<double>();
    CHECK(per_step == doctest::Approx(20e-3).epsilon(0.2));
  }
  CHECK(blocks > 0);
}
