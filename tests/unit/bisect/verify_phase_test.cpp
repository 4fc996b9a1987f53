#include "cachebisect/bisect/phases/verify_phase.hpp"

#include <cmath>

#include "support/law_replayer.hpp"
#include "support/starved_chain.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/bisect/advice/remedies.hpp"
#include "cachebisect/bisect/bisect.hpp"

using namespace cachebisect;
using test::has;
using test::rate_of;
using test::starved_chain;

namespace {

BisectOptions asking(std::vector<std::string> what_ifs, double budget = 60) {
  BisectOptions options;
  options.budget_seconds = budget;
  options.what_ifs = std::move(what_ifs);
  options.verify = true;
  return options;
}

void check_measured(const WhatIfResult& what_if, double truth) {
  CAPTURE(what_if.change);
  CAPTURE(truth);
  REQUIRE(what_if.measured.value.has_value());
  CHECK(*what_if.measured.value == doctest::Approx(truth).epsilon(0.02));
  REQUIRE(what_if.measured.interval.has_value());
  CHECK(what_if.measured.interval->low <= truth * 1.01);
  CHECK(what_if.measured.interval->high >= truth * 0.99);
}

}  // namespace

TEST_CASE("what-ifs run alongside the live pipeline agree with the changed chain") {
  SimulatedReplayer replayer(starved_chain(), {.noise = {.white_cv = 0.01}});
  const Report report =
      bisect(replayer, asking({"workers=4", "crop=free", "batch_size=16", "stages.crop.us=250"}));
  REQUIRE(report.what_ifs.size() == 4);
  SimulatedChain changed = starved_chain();
  changed.workers = 4;
  check_measured(report.what_ifs[0], rate_of(changed));
  changed = starved_chain();
  changed.stages[2].seconds = 0;
  check_measured(report.what_ifs[1], rate_of(changed));
  changed = starved_chain();
  changed.batch_size = 16;
  check_measured(report.what_ifs[2], rate_of(changed));
  changed = starved_chain();
  changed.stages[2].seconds = 250e-6;
  check_measured(report.what_ifs[3], rate_of(changed));
  CHECK(report.what_ifs[3].note.empty());
  CHECK(report.verdict.kind == VerdictKind::drop);
}

TEST_CASE("a longer queue is run: it gains where costs vary, and nothing where they are steady") {
  SimulatedChain chain = starved_chain(0.15e-3);
  chain.ring_prefetch = 0;
  const auto gain_of = [](const SimulatedChain& planted) {
    SimulatedReplayer replayer(planted, {.noise = {.white_cv = 0.01}});
    const Report report = bisect(replayer, asking({"prefetch=16"}));
    const WhatIfResult& longer = report.what_ifs.front();
    SimulatedChain changed = planted;
    changed.ring_prefetch = 16;
    check_measured(longer, rate_of(changed));
    REQUIRE(longer.predicted.interval.has_value());
    CHECK(longer.predicted.interval->low <= 1.01 * rate_of(changed));
    CHECK(longer.predicted.interval->high >= 0.99 * rate_of(changed));
    return rate_of(changed) / rate_of(planted) - 1;
  };
  CHECK(std::abs(gain_of(chain)) < 0.01);
  chain.stages[2].factor = test::rarely(64, 40);
  CHECK(gain_of(chain) > 0.05);
}

TEST_CASE("every round of verification runs live and each arm once") {
  SimulatedReplayer replayer(starved_chain(), {.noise = {.white_cv = 0.01}});
  const Report report = bisect(replayer, asking({"workers=4", "workers=3", "workers=4"}));
  std::map<int, std::map<Arm, int>> rounds;
  for (const BlockRecord& block : report.blocks) {
    if (block.round >= 0) ++rounds[block.round][block.arm];
  }
  int with_overrides = 0;
  for (const auto& [number, arms] : rounds) {
    const bool verifies = std::any_of(
        arms.begin(), arms.end(), [](const auto& entry) { return !entry.first.overrides.empty(); });
    if (!verifies) continue;
    ++with_overrides;
    CHECK(arms.at(Arm{}) == 1);
    for (const auto& [arm, count] : arms) CHECK(count == 1);
  }
  CHECK(with_overrides >= 5);
}

TEST_CASE("remedies whose edits are settings are run, and their gain is in samples per second") {
  SimulatedChain chain = starved_chain();
  chain.workers = 1;
  SimulatedReplayer replayer(chain, {.noise = {.white_cv = 0.01}});
  const Report report = bisect(replayer, asking({}));
  REQUIRE_FALSE(report.remedies.empty());
  REQUIRE(report.remedies.front().id == "workers");
  REQUIRE(report.remedies.front().measured.value.has_value());
  SimulatedChain changed = chain;
  changed.workers = 4;
  CHECK(*report.remedies.front().measured.value ==
        doctest::Approx(rate_of(changed) - rate_of(chain)).epsilon(0.03));
}

TEST_CASE("a what-if that cannot be run says why, and one that fails has no measurement") {
  SimulatedReplayer replayer(starved_chain(), {.noise = {.white_cv = 0.01}});
  const Report report = bisect(replayer, asking({"crop/2", "train/2", "seed=4", "workers=4"}));
  CHECK_FALSE(report.what_ifs[0].measured.value.has_value());
  CHECK(has(report.what_ifs[0].note, "cannot be run"));
  CHECK(has(report.what_ifs[1].note, "cannot be run"));
  CHECK(has(report.what_ifs[2].note, "this chain cannot run it"));
  CHECK(report.what_ifs[3].measured.value.has_value());

  test::LawReplayer failing({.stage_seconds = {1e-4, 5e-4}});
  failing.before_block = [](const Arm& arm) {
    if (arm.overrides.contains("prefetch")) throw Error(ErrorKind::data, "out of slots");
  };
  const Report partly = bisect(failing, asking({"prefetch=9", "b=free"}));
  CHECK(partly.verdict.kind == VerdictKind::drop);
  CHECK(has(partly.what_ifs[0].note, "it failed: out of slots"));
  CHECK(partly.what_ifs[1].measured.value.has_value());
}

TEST_CASE("what-ifs are only predicted if no time is left") {
  SimulatedReplayer replayer(starved_chain(), {.noise = {.white_cv = 0.3}});
  BisectOptions options = asking({"workers=4"}, 0.3);
  const Report report = bisect(replayer, options);
  CHECK_FALSE(report.what_ifs[0].measured.value.has_value());
  CHECK(has(report.what_ifs[0].note, "the budget ended"));
}

TEST_CASE("a verdict that takes all of its time leaves enough to run what was asked for") {
  SimulatedReplayer replayer(starved_chain(), {.noise = {.white_cv = 1}});
  BisectOptions options = asking({"workers=4"}, 5);
  options.confidence = 0.99999;
  const Report report = bisect(replayer, options);
  REQUIRE(report.verdict.kind == VerdictKind::inconclusive);
  CHECK(report.what_ifs[0].measured.value.has_value());
  CHECK(report.timing.measure_seconds <= 1.1 * options.budget_seconds);
}

TEST_CASE("an edit that adds or removes a stage has no arm") {
  Remedy remedy;
  CHECK_FALSE(arm_of(remedy, {}).has_value());
  remedy.edits = {{"/stages/4/prefetch", "2"}, {"/stages/4/pinned", "true"}};
  CHECK(arm_of(remedy, {}) ==
        Arm{.kind = ArmKind::live,
            .overrides = {{"stages.4.prefetch", "2"}, {"stages.4.pinned", "true"}}});
  remedy.edits = {{"/stages/2", "null", EditKind::remove}};
  CHECK_FALSE(arm_of(remedy, {}).has_value());
  remedy.edits = {{"/stages/3", "{}", EditKind::insert}};
  CHECK_FALSE(arm_of(remedy, {}).has_value());
}
