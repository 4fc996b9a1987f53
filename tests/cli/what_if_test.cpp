// --what-if and --verify as typed.
#include <string>

#include "cli/simulated_run.hpp"
#include "cli/starved_run.hpp"
#include "support/command.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace cachebisect::test;
using nlohmann::json;

TEST_CASE("what-ifs are predicted, on the terminal and in JSON") {
  const ScriptRun run = run_script(
      "ok", {"--what-if", "workers=4", "--what-if", "decode=free", "--what-if", "shuffle=false"});
  REQUIRE(run.result.exit_code == 0);
  CHECK(has(run.result.out, "what if, samples/s"));
  CHECK(has(run.result.out, "workers=4"));
  CHECK(has(run.result.out, "decode=free"));
  REQUIRE(run.report["what_ifs"].size() == 3);
  const json& freed = run.report["what_ifs"][1];
  CHECK(freed["change"] == "decode=free");
  const double live = run.report["live"]["samples_per_second"];
  CHECK(freed["predicted"]["samples_per_second"].get<double>() > live);
  CHECK(freed["predicted"]["interval"][0] <= freed["predicted"]["samples_per_second"]);
  CHECK(run.report["what_ifs"][2]["predicted"]["samples_per_second"].is_null());
  CHECK(has(run.report["what_ifs"][2]["note"].get<std::string>(), "--verify"));
  CHECK(run.report["boundaries"][0]["predicted_samples_per_second"].get<double>() > 0);
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
