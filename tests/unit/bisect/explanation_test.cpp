// What a report says beyond its verdict, on chains whose arms have known costs.
#include "cachebisect/bisect/analysis/explanation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "support/law_replayer.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/bisect/advice/warnings.hpp"
#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/bisect/reanalyse.hpp"
#include "cachebisect/bisect/record/round_table.hpp"
#include "cachebisect/report/words/text_consequences.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"

using namespace cachebisect;
using cachebisect::test::LawChain;
using cachebisect::test::LawReplayer;

namespace {

/// Live takes 2.0 ms per sample, without a 0.9 ms, without b 1.1 ms, the step alone 0.1 ms. The
/// largest drop is at b (0.9 to 0.1), but a costs most seconds and pays most.
LawChain two_stages() { return {.stage_seconds = {1.1e-3, 0.9e-3}, .step_seconds = 1e-4}; }

bool has_warning(const Report& report, const std::string& code) {
  return std::any_of(report.warnings.begin(), report.warnings.end(),
                     [&](const Warning& w) { return w.code == code; });
}

bool holds(const Estimate& estimate, double truth) {
  return estimate.interval && estimate.interval->low <= truth && truth <= estimate.interval->high;
}

int blocks_of(const Report& report, ArmKind kind) {
  int count = 0;
  for (const BlockRecord& block : report.blocks) count += block.arm.kind == kind ? 1 : 0;
  return count;
}

std::string consequences_in_a_line(const Report& report) {
  std::string text;
  for (const std::string& sentence : consequences(report)) text += sentence + ' ';
  return text;
}

}  // namespace

TEST_CASE("the stage that costs most seconds is named, and so is its payoff") {
  LawReplayer replayer(two_stages());
  const Report report = bisect(replayer);
  REQUIRE(report.verdict.kind == VerdictKind::drop);
  CHECK(report.verdict.stage == "a");
  CHECK(report.verdict.fix_first == "a");
  CHECK(holds(report.stages[0].payoff, 1 / 0.9e-3));
  CHECK(holds(report.stages[1].payoff, 1 / 1.1e-3));
  CHECK_FALSE(report.stages[2].payoff.value.has_value());
  CHECK(report.next_stage == "b");
  CHECK(report.next_samples_per_second == report.stages[0].payoff.value);
  CHECK(report.verdict.text.find("Fix ") == std::string::npos);
  const std::string text = consequences_in_a_line(report);
  CHECK(text.starts_with("Fixing a alone would give 1,1"));
  CHECK(text.find("then b limits.") != std::string::npos);
}

TEST_CASE("the limit behind a single slow stage is the training step") {
  LawReplayer replayer({.stage_seconds = {2e-5, 5e-4}, .step_seconds = 1e-4});
  const Report report = bisect(replayer);
  CHECK(report.verdict.stage == "b");
  CHECK(report.verdict.fix_first == "b");
  CHECK(holds(report.stages[1].payoff, 1e4));
  CHECK(report.next_stage == "training step");
  CHECK(report.verdict.text.find("Fix ") == std::string::npos);
}

TEST_CASE("of stages that run side by side, the slowest is to be fixed first") {
  // In order, b costs most: 1.2 ms to 0.1. Live, a hides it.
  LawReplayer replayer(
      {.stage_seconds = {1.6e-3, 1.2e-3, 3e-4}, .step_seconds = 1e-4, .side_by_side = true});
  const Report report = bisect(replayer);
  CAPTURE(report.verdict.text);
  REQUIRE(report.verdict.kind == VerdictKind::drop);
  CHECK(report.verdict.stage == "b");
  CHECK(report.verdict.fix_first == "a");
  CHECK(holds(report.stages[0].payoff, 1 / 1.2e-3));
  CHECK(report.verdict.text.starts_with("Fix a first"));
  // What explains it is in the recording.
  CHECK(reanalyse(report, {}).verdict.text == report.verdict.text);
}

TEST_CASE("the sentence leads with the stage that gains most, if another one has the drop") {
  // With a free, b limits to 0.65 ms; with b free, the step to 0.63 ms: in order, b costs
  // only 3%.
  LawReplayer replayer({.stage_seconds = {3e-4, 6.5e-4}, .step_seconds = 6.3e-4});
  const Report report = bisect(replayer);
  REQUIRE(report.verdict.kind == VerdictKind::drop);
  CHECK(report.verdict.stage == "a");
  CHECK(report.verdict.fix_first == "b");
  CHECK(holds(report.stages[1].payoff, 1 / 6.3e-4));
  CHECK(
      report.verdict.text.starts_with("Fix b first: with it alone free the pipeline reaches 1,57"));
  CHECK(report.verdict.text.find(". a costs 3") != std::string::npos);
}

TEST_CASE("if payoffs cannot be told apart, the cost model says which stage to fix first") {
  LawReplayer replayer({.stage_seconds = {3e-4, 7.1e-4}, .step_seconds = 6.7e-4, .noise = 0.05});
  const Report report = bisect(replayer);
  REQUIRE(report.verdict.kind == VerdictKind::drop);
  CHECK(report.verdict.stage == "a");
  CHECK(report.verdict.fix_first == "b");
  CHECK(report.verdict.text.starts_with(
      "Fix b first: with it alone free the pipeline seems to reach "));
}

TEST_CASE("a stage that is to be fixed first has the larger payoff in the table") {
  SimulatedChain chain;
  chain.stages = {{.name = "stalls", .kind = CostKind::wait, .seconds = 0.1e-3},
                  {.name = "steady", .kind = CostKind::wait, .seconds = 0.6e-3}};
  chain.workers = 1;
  chain.step_seconds = 4e-3;
  int led = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SimulatedReplayer replayer(chain, {.seed = seed,
                                       .noise = {.white_cv = 0.01,
                                                 .burst_probability = 0.15,
                                                 .burst_seconds = 0.08,
                                                 .burst_stage = 1}});
    const Report report = bisect(replayer, {.seed = seed});
    const Verdict& verdict = report.verdict;
    if (verdict.kind != VerdictKind::drop || verdict.fix_first == verdict.stage) continue;
    ++led;
    const auto payoff = [&](const std::string& name) {
      const auto stage = std::find_if(report.stages.begin(), report.stages.end(),
                                      [&](const StageReport& each) { return each.name == name; });
      return stage->payoff.value.value_or(0);
    };
    CAPTURE(verdict.text);
    CHECK(payoff(verdict.fix_first) > payoff(verdict.stage));
  }
  MESSAGE(led << " of 60 lead with another stage");
}

TEST_CASE("without payoffs the cost model says which stage to fix first, if costs are steady") {
  LawChain chain{.stage_seconds = {3e-4, 7.1e-4}, .step_seconds = 6.7e-4};
  bool steady = true;
  SUBCASE("steady") {}
  SUBCASE("rare stalls") {
    steady = false;
    chain.counted_factor = [](int block) { return block % 4 == 0 ? 2.5 : 0.5; };
  }
  LawReplayer replayer(chain);
  replayer.refuse = [](const Arm& arm) { return arm.kind == ArmKind::bypass; };
  const Report report = bisect(replayer);
  REQUIRE(report.verdict.kind == VerdictKind::drop);
  CHECK(report.verdict.stage == "a");
  CHECK(report.verdict.fix_first == (steady ? "b" : "a"));
  CHECK(report.verdict.text.starts_with("Fix b first: its live time is larger") == steady);
}

TEST_CASE("with inline loading the next limit is the largest of step and stages") {
  LawReplayer replayer({.stage_seconds = {2e-5, 5e-4}, .step_seconds = 1e-4, .workers = 0});
  const Report report = bisect(replayer);
  CHECK(report.verdict.fix_first == "b");
  CHECK(report.next_stage == "training step");
  CHECK_FALSE(report.loss.contention.value.has_value());
  CHECK_FALSE(report.loss.starvation.value.has_value());
  CHECK(blocks_of(report, ArmKind::shadow) == 0);
}

TEST_CASE("contention and starvation are separated, and sum to the loss") {
  // The step takes 0.13 ms while loading runs, the input 0.2 ms.
  LawReplayer replayer(
      {.stage_seconds = {2e-4}, .step_seconds = 1e-4, .slowed = 0.3, .noise = 0.005});
  const Report report = bisect(replayer);
  const Loss& loss = report.loss;
  REQUIRE(loss.total.value.has_value());
  CHECK(holds(loss.contention, 1 - 1 / 1.3));
  CHECK(holds(loss.starvation, 1 / 1.3 - 0.5));
  CHECK(*loss.starvation.value + *loss.contention.value == doctest::Approx(*loss.total.value));
  CHECK(consequences_in_a_line(report).find("starvation (the step waits for data) and") !=
        std::string::npos);
}

TEST_CASE(
    "a loss without contention is all starvation, and one without starvation is all contention") {
  LawReplayer starved({.stage_seconds = {3e-4}, .step_seconds = 1e-4});
  const std::string starvation = consequences_in_a_line(bisect(starved));
  CHECK(starvation.find("lost is starvation") != std::string::npos);
  CHECK(starvation.find("step down) is at most") != std::string::npos);
  LawReplayer slowed({.stage_seconds = {2e-5}, .step_seconds = 1e-4, .slowed = 0.3});
  const std::string contention = consequences_in_a_line(bisect(slowed));
  CHECK(contention.find("lost is contention") != std::string::npos);
}

TEST_CASE("the cost of the probes is measured, and causes a warning above 0.5%") {
  LawChain chain = two_stages();
  chain.noise = 0.001;
  SUBCASE("little") { chain.probe_share = 0.002; }
  SUBCASE("at the limit") { chain.probe_share = 0.005; }
  SUBCASE("too much") { chain.probe_share = 0.009; }
  SUBCASE("far too much") { chain.probe_share = 0.05; }
  LawReplayer replayer(chain);
  const Report report = bisect(replayer);
  REQUIRE(report.machine.noise.block_cv.value_or(1) < 0.03);
  CHECK(holds(report.overhead, 1 - 1 / (1 + chain.probe_share)));
  CHECK(has_warning(report, "overhead") == (chain.probe_share > 0.005));
}

TEST_CASE("probes cause a warning only if their cost is certainly above 0.5%, on any machine") {
  Explanation explanation;
  const auto warned = [&](double block_cv) {
    MachineReport machine;
    machine.noise.block_cv = block_cv;
    const auto warnings = find_warnings({}, machine, {}, explanation);
    return std::any_of(warnings.begin(), warnings.end(),
                       [](const Warning& w) { return w.code == "overhead"; });
  };
  explanation.overhead = {0.008, Interval{0.006, 0.010}};
  CHECK(warned(0.02));
  CHECK(warned(0.1));
  explanation.overhead = {0.02, Interval{-0.01, 0.05}};
  CHECK_FALSE(warned(0.02));
  CHECK_FALSE(warned(0.1));
}

TEST_CASE("explaining after the verdict does not change it") {
  for (int variant = 0; variant < 2; ++variant) {
    LawChain chain = two_stages();
    if (variant == 1) chain.stage_seconds = {1e-5};  // flat
    BisectOptions options;
    LawReplayer explained(chain);
    const Report with = bisect(explained, options);
    options.explain = false;
    LawReplayer bare(chain);
    const Report without = bisect(bare, options);
    CHECK(with.verdict.kind == without.verdict.kind);
    CHECK(with.verdict.stage == without.verdict.stage);
    CHECK(with.verdict.drop.value == without.verdict.drop.value);
    CHECK(with.verdict.rounds == without.verdict.rounds);
    CHECK(with.verdict.certified_after_seconds == without.verdict.certified_after_seconds);
    CHECK(blocks_of(without, ArmKind::bypass) + blocks_of(without, ArmKind::shadow) == 0);
    CHECK_FALSE(without.overhead.value.has_value());
    CHECK(without.timing.explain_seconds == doctest::Approx(0));
    CHECK(with.timing.measure_seconds - with.timing.explain_seconds ==
          doctest::Approx(without.timing.measure_seconds));
  }
}

TEST_CASE("rounds that explain a tie too still show the tie") {
  const auto named = [](bool explain) {
    LawReplayer replayer({.stage_seconds = {2e-4, 2e-4, 1.9e-4}, .step_seconds = 1e-4});
    BisectOptions options;
    options.explain = explain;
    const Report report = bisect(replayer, options);
    CHECK(report.verdict.kind == VerdictKind::drop);
    std::set<std::string> names(report.verdict.tied_with.begin(), report.verdict.tied_with.end());
    names.insert(report.verdict.stage);
    return names;
  };
  CHECK(named(true).size() > 1);
  CHECK(named(true) == named(false));
}

TEST_CASE("a large gain takes fewer rounds to measure than a small one") {
  const auto rounds_beside = [](double stage_seconds) {
    LawReplayer replayer({.stage_seconds = {stage_seconds}, .step_seconds = 1e-4, .noise = 0.06});
    const Report report = bisect(replayer);
    CAPTURE(stage_seconds);
    CHECK(report.verdict.kind == VerdictKind::drop);
    REQUIRE(report.stages[0].payoff.interval.has_value());
    CHECK(holds(report.stages[0].payoff, 1e4));
    return blocks_of(report, ArmKind::shadow) - 1;  // one is the pilot's
  };
  CHECK(rounds_beside(1.18e-4) > rounds_beside(5e-4));
}

TEST_CASE("explaining a flat verdict takes about a second, for the probes alone") {
  LawReplayer replayer({.stage_seconds = {1e-5}, .step_seconds = 1e-4});
  const Report report = bisect(replayer);
  REQUIRE(report.verdict.kind == VerdictKind::flat);
  CHECK(holds(report.overhead, 0));
  CHECK(report.timing.explain_seconds > 0.5);
  CHECK(report.timing.explain_seconds <= 1.1);
  CHECK(blocks_of(report, ArmKind::bypass) + blocks_of(report, ArmKind::shadow) == 0);
  CHECK(replayer.refills == 0);
}

TEST_CASE("an inconclusive verdict is not explained") {
  LawChain chain = two_stages();
  chain.noise = 0.05;
  LawReplayer replayer(chain);
  BisectOptions options;
  options.budget_seconds = 1;
  const Report report = bisect(replayer, options);
  REQUIRE(report.verdict.kind == VerdictKind::inconclusive);
  CHECK(blocks_of(report, ArmKind::bypass) == 0);
}

TEST_CASE("an arm that fails after the verdict costs the explanation, not the verdict") {
  LawReplayer replayer(two_stages());
  int shadows = 0;
  replayer.before_block = [&](const Arm& arm) {
    if (arm.kind == ArmKind::shadow && ++shadows == 6) {
      throw Error(ErrorKind::data, "stage b: planted failure");
    }
  };
  const Report report = bisect(replayer);
  CHECK(report.verdict.kind == VerdictKind::drop);
  CHECK(report.verdict.stage == "a");
  CHECK_FALSE(report.interrupted);
  CHECK(has_warning(report, "not_explained"));
  CHECK(report.stages[0].payoff.value.has_value());
  // Four complete rounds certify nothing.
  CHECK_FALSE(report.stages[0].payoff.interval.has_value());
  CHECK(report.verdict.fix_first != "");
}

TEST_CASE("a run stopped while explaining reports the verdict and what is known") {
  LawReplayer replayer(two_stages());
  std::stop_source source;
  int bypassed = 0;
  int stop_at = 0;
  SUBCASE("in the pilot") { stop_at = 1; }
  SUBCASE("in a round") { stop_at = 9; }
  replayer.before_block = [&](const Arm& arm) {
    if (arm.kind == ArmKind::bypass && ++bypassed == stop_at) source.request_stop();
  };
  BisectOptions options;
  options.stop = source.get_token();
  std::optional<Report> partial;
  options.partial = [&](const Report& report) { partial = report; };
  const Report report = bisect(replayer, options);
  CHECK(report.interrupted);
  CHECK(report.verdict.kind == VerdictKind::drop);
  CHECK(report.verdict.stage == "a");
  CHECK(report.stages[0].payoff.value.has_value() == (stop_at == 9));
  REQUIRE(partial.has_value());
  CHECK(partial->interrupted);
  CHECK(partial->stages[0].payoff.value == report.stages[0].payoff.value);
}

TEST_CASE("arms that a replayer does not support leave their figures empty") {
  LawReplayer replayer(two_stages());
  replayer.refuse = [](const Arm& arm) {
    return arm.kind == ArmKind::shadow || arm.kind == ArmKind::bypass || !arm.observed;
  };
  replayer.can_refill = false;
  const Report report = bisect(replayer);
  CHECK(report.verdict.stage == "a");
  // Predicted, as nothing was measured.
  CHECK(report.verdict.fix_first == "a");
  CHECK_FALSE(report.stages[0].payoff.value.has_value());
  CHECK_FALSE(report.loss.contention.value.has_value());
  CHECK_FALSE(report.next_samples_per_second.has_value());
  CHECK_FALSE(report.k2k_change.has_value());
  for (const BlockRecord& block : report.blocks) CHECK(block.round < report.verdict.rounds);
}

TEST_CASE("caches that fit into the processor's cache are detected") {
  LawChain chain = two_stages();
  chain.noise = 0.003;
  SUBCASE("large enough") { chain.small_cache = 0; }
  SUBCASE("too small") { chain.small_cache = 0.04; }
  LawReplayer replayer(chain);
  const Report report = bisect(replayer, {.verify = true});
  REQUIRE(report.k2k_change.has_value());
  CHECK(*report.k2k_change == doctest::Approx(chain.small_cache).epsilon(0.1).scale(1));
  CHECK(std::abs(*report.k2k_change - chain.small_cache) < 0.005);
  CHECK(has_warning(report, "cache_too_small") == (chain.small_cache > 0));
  CHECK(replayer.refills == 1);
  const int fills = 1 + replayer.fresh_fills + replayer.refills;
  CHECK(report.timing.cache_seconds == doctest::Approx(fills * chain.fill_seconds));
}

TEST_CASE("the size of the caches is tried only if the user asks to verify") {
  LawReplayer replayer(two_stages());
  CHECK_FALSE(bisect(replayer).k2k_change.has_value());
  CHECK(replayer.refills == 0);
}

TEST_CASE("a fill that would take too long is not started") {
  LawChain chain = two_stages();
  chain.fill_seconds = 20;
  LawReplayer replayer(chain);
  const Report report = bisect(replayer, {.verify = true});
  CHECK(report.verdict.kind == VerdictKind::drop);
  CHECK(replayer.refills == 0);
  CHECK_FALSE(report.k2k_change.has_value());
}

TEST_CASE("each super-round is replayed from other samples, and filling is not measuring") {
  LawReplayer replayer(two_stages());
  BisectOptions options;
  options.explain = false;
  options.sustain_seconds = 0;
  const Report report = bisect(replayer, options);
  // The first fill holds too few samples for the three blocks of a super-round.
  CHECK(replayer.fresh_fills == report.verdict.rounds / 3);
  CHECK(report.timing.cache_seconds == doctest::Approx((1 + replayer.fresh_fills) * 0.2));
  CHECK(replayer.clock() ==
        doctest::Approx(report.timing.measure_seconds + report.timing.cache_seconds));
}

TEST_CASE("payoff intervals contain the truth as often as they claim") {
  int intervals = 0;
  int held = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    LawChain chain = two_stages();
    chain.noise = 0.02;
    chain.slowed = 0.2;
    LawReplayer replayer(chain, seed);
    BisectOptions options;
    options.seed = seed;
    const Report report = bisect(replayer, options);
    const double total = 1 - 1e-4 / 2e-3;
    for (const auto& [estimate, truth] :
         {std::pair{report.stages[0].payoff, 1 / 0.9e-3},
          std::pair{report.stages[1].payoff, 1 / 1.1e-3},
          std::pair{report.loss.contention, 1 - 1 / 1.2},
          std::pair{report.loss.starvation, total - (1 - 1 / 1.2)}}) {
      intervals += estimate.interval ? 1 : 0;
      held += holds(estimate, truth) ? 1 : 0;
    }
  }
  MESSAGE(held << " of " << intervals);
  CHECK(intervals > 400);
  CHECK(held >= intervals * 97 / 100);
}

TEST_CASE("the rounds of a verdict that point to one stage explain it too") {
  LawReplayer replayer({.stage_seconds = {2e-4, 5e-3}, .step_seconds = 1e-3});
  const Report report = bisect(replayer);
  REQUIRE(report.verdict.kind == VerdictKind::drop);
  CHECK(report.verdict.stage == "b");
  CHECK(holds(report.stages[1].payoff, 1e3));
  CHECK(report.loss.contention.interval.has_value());
  int early = 0;
  for (const BlockRecord& block : report.blocks) {
    if (block.arm.kind == ArmKind::bypass && block.round >= 0) {
      early += block.round < report.verdict.rounds ? 1 : 0;
    }
  }
  CHECK(early >= kUsualRepeats);
  // Live is not measured anew for the rest.
  CHECK(report.timing.explain_seconds < 0.5 * report.timing.measure_seconds);
}

TEST_CASE("an arm that fails while the verdict is measured costs neither verdict nor rounds") {
  LawReplayer replayer({.stage_seconds = {2e-4, 5e-3}, .step_seconds = 1e-3});
  int bypasses = 0;
  replayer.before_block = [&](const Arm& arm) {
    if (arm.kind == ArmKind::bypass && ++bypasses >= 4) {
      throw Error(ErrorKind::data, "stage b: planted failure");
    }
  };
  const Report report = bisect(replayer);
  CHECK(report.verdict.kind == VerdictKind::drop);
  CHECK(report.verdict.stage == "b");
  CHECK_FALSE(report.interrupted);
  CHECK(has_warning(report, "not_explained"));
}

TEST_CASE("an arm that was planned and did not run gives no payoff") {
  int explained = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    LawReplayer replayer(
        {.stage_seconds = {3e-3, 1e-3, 2.5e-3}, .step_seconds = 1e-3, .noise = 0.2}, seed);
    BisectOptions options;
    options.seed = seed;
    options.budget_seconds = 20;
    const Report report = bisect(replayer, options);
    CAPTURE(seed);
    for (const StageReport& stage : report.stages) {
      if (!stage.payoff.value) continue;
      ++explained;
      CHECK(*stage.payoff.value < 1e3);
    }
  }
  CHECK(explained > 0);
}
