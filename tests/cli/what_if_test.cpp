// --what-if and --verify as typed.
#include <string>

#include "cli/starved_run.hpp"
#include "support/command.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace cachebisect::test;
using nlohmann::json;

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

TEST_CASE("an invalid what-if is exit 2 before anything is measured") {
  const auto refused = [](const std::string& what, const std::string& says) {
    const auto result =
        run_tool({"--pipeline", "-", "--budget", "600", "--what-if", what}, starved_pipeline());
    CAPTURE(what);
    CHECK(result.exit_code == 2);
    CHECK(has(result.err, "--what-if " + what));
    CHECK(has(result.err, says));
    CHECK(result.out.empty());
  };
  refused("slwo=free", "did you mean \"slow\"?");
  refused("workers=many", "whole number");
  refused("slow/0", "not a positive number");
  refused("faster", "forms: workers=4");
}
