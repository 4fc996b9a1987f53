// Interruptions of real runs after their verdict.
#include <csignal>

#include "cli/interrupted_run.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect::test;

TEST_CASE("Ctrl-C during the explanation keeps the verdict") {
  const Interrupted run = interrupt("explain, round", SIGINT);
  CHECK(run.exit_code == 130);
  CHECK(run.report["interrupted"] == true);
  CHECK(run.report["verdict"]["kind"] == "drop");
  CHECK(run.report["verdict"]["stage"] == "slow");
  CHECK(has(run.out, "slow costs"));
  CHECK(has(run.text, "slow costs"));
  CHECK_FALSE(run.leftovers);
}

TEST_CASE("SIGTERM during the what-ifs keeps verdict and predictions") {
  const Interrupted run =
      interrupt("verify, round", SIGTERM, {"--what-if", "workers=2", "--verify"});
  CHECK(run.exit_code == 143);
  CHECK(run.report["interrupted"] == true);
  CHECK(run.report["verdict"]["stage"] == "slow");
  REQUIRE(run.report["what_ifs"].size() == 1);
  CHECK(run.report["what_ifs"][0]["change"] == "workers=2");
  CHECK_FALSE(run.leftovers);
}
