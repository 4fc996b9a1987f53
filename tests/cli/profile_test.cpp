// `cachebisect profile` as a user runs it.
#include <algorithm>
#include <string>
#include <vector>

#include "cli/starved_run.hpp"
#include "support/command.hpp"
#include "support/files.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace cachebisect::test;

TEST_CASE("profile prints a table by action and what profiling costs") {
  const auto result = run_tool({"profile", "--pipeline", "-", "--active", "10", "--repeat", "2"},
                               starved_pipeline());
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  for (const char* const part : {"profiled: 20 steps in 2 cycles, 320 samples", "training thread",
                                 "load (wait for a batch)", "slow", "Cost of profiling"}) {
    CHECK(has(result.out, part));
  }
}

TEST_CASE("profile refuses what makes no sense") {
  CHECK(run_tool({"profile", "--pipeline", "-", "--active", "0"}, starved_pipeline()).exit_code ==
        2);
  CHECK(run_tool({"profile", "--pipeline", "/no/such/file.json"}).exit_code == 2);
  CHECK(run_tool({"profile"}).exit_code == 2);
}

TEST_CASE("profile ends on Ctrl-C") {
  const auto result = run_tool({"profile", "--pipeline", "-", "--repeat", "100000"},
                               starved_pipeline(), [](pid_t child, const std::string& /*log*/) {
                                 await_signal_watch(child);
                                 kill(child, SIGINT);
                               });
  CHECK(result.exit_code == 130);
}

TEST_CASE("profile writes a trace, and names what does not fit together") {
  const TemporaryFolder folder;
  const std::string file = folder.path("trace.json");
  const auto result = run_tool({"profile", "--pipeline", "-", "--trace", file}, starved_pipeline());
  CHECK(result.exit_code == 0);
  CHECK(has(result.out, "written: " + file));
  const auto trace = nlohmann::json::parse(read_file(file));
  CHECK(trace["cachebisect"]["pipeline"] == "starved");
  // How many samples are loaded within its three steps depends on the machine.
  const auto& events = trace["traceEvents"];
  CHECK(std::count_if(events.begin(), events.end(), [](const nlohmann::json& event) {
          return event.value("cat", "") == "user_annotation" && event["name"] == "step";
        }) == 3);

  const auto refused = [](std::vector<std::string> options) {
    options.insert(options.begin(), {"profile", "--pipeline", "-"});
    return run_tool(std::move(options), starved_pipeline());
  };
  CHECK(refused({"--profiler", "fast"}).exit_code == 2);
  CHECK(has(refused({"--profiler", "pytorch"}).err, "--trace FILE"));
  CHECK(refused({"--memory"}).exit_code == 2);
  CHECK(refused({"--sort", "name"}).exit_code == 2);
  const auto unwritable = refused({"--trace", "/no/such/folder/trace.json"});
  CHECK(unwritable.exit_code == 6);
  CHECK(unwritable.out.empty());
}

TEST_CASE("advanced ranks the functions of stages, and says where nothing tells the operators") {
  const auto result = run_tool({"profile", "--pipeline", "-", "--profiler", "advanced", "--active",
                                "5", "--repeat", "1", "--set", "stages.slow.use=synthetic.cpu"},
                               starved_pipeline());
  CHECK(result.exit_code == 0);
  CHECK(has(result.out, "does not run in LibTorch"));
  CHECK(has(result.out, "device ran no step for"));
  CHECK(has(result.out, "functions of the stages"));
}
