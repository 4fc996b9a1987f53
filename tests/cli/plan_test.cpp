// `plan`: a recording, and the machines that it is asked of.
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

TEST_CASE("a recorded run is planned for other machines") {
  const TemporaryFolder folder;
  const std::string report = folder.path("report.json");
  REQUIRE(run_tool({"--pipeline", "-", "--budget", "6", "--no-explain", "--json", report},
                   starved_pipeline())
              .exit_code == 0);
  const std::string machines =
      folder.write("machines.json", std::string(R"([{"name": "large", "cores": 64}])"));
  const auto plan = run_tool({"plan", report, "--machines", machines, "--cores", "1,2"});
  CAPTURE(plan.err);
  REQUIRE(plan.exit_code == 0);
  CHECK(has(plan.out, "large"));
  CHECK(has(plan.out, "ceiling"));
  const auto written =
      run_tool({"plan", report, "--cores", "8", "--json", folder.path("plan.json")});
  CHECK(written.exit_code == 0);
  CHECK(json::parse(read_file(folder.path("plan.json")))["machines"].size() == 1);
  const auto refused = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"plan", report});
    const auto result = run_tool(more);
    CHECK(result.exit_code == 2);
    return result.err;
  };
  CHECK(has(refused({}), "--machines FILE or --cores"));
  CHECK(has(refused({"--cores", "0"}), "--cores"));
  CHECK(has(refused({"--machines", folder.path("none")}), "none"));
  CHECK(run_tool({"plan", machines, "--cores", "2"}).exit_code == 2);
}
