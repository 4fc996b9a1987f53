// A stage that is cheaper when it is replayed: because the stages before it do not run next to it,
// or because it remembers samples.
#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"

using namespace cachebisect;

namespace {

/// tokenize limits; normalize takes 60 us per sample live.
SimulatedChain chain_of(int workers) {
  SimulatedChain chain;
  chain.cores = 4;
  chain.workers = workers;
  chain.step_seconds = 8 * 20e-6 / std::max(1, workers);
  chain.stages = {
      {.name = "read", .category = Category::read, .kind = CostKind::wait, .seconds = 20e-6},
      {.name = "tokenize", .category = Category::decode, .seconds = 400e-6},
      {.name = "normalize", .category = Category::augment, .seconds = 60e-6},
      {.name = "flip", .category = Category::augment, .seconds = 10e-6}};
  return chain;
}

SimulatedChain slowed(int workers) {
  SimulatedChain chain = chain_of(workers);
  chain.stages[2].seconds = 40e-6;
  chain.stages[2].contended_factor = 1.5;
  return chain;
}

SimulatedChain remembering(int workers) {
  SimulatedChain chain = chain_of(workers);
  chain.stages[2].seen_factor = 2.0 / 3;
  return chain;
}

Report measure(const SimulatedChain& chain, std::uint64_t seed, bool has_unseen = true) {
  SimulatedOptions simulated;
  simulated.has_unseen = has_unseen;
  simulated.seed = seed;
  simulated.noise.white_cv = 0.01;
  SimulatedReplayer replayer(chain, simulated);
  BisectOptions options;
  options.seed = seed;
  options.explain = false;
  return bisect(replayer, options);
}

bool warns(const Report& report, const std::string& code) {
  return std::ranges::any_of(report.warnings,
                             [&](const Warning& warning) { return warning.code == code; });
}

/// Calls `check` with reports of chains with 0, 1 and 2 workers, each of which must name a drop.
template <typename Chain, typename Check>
void for_each_report(const Chain& chain, const Check& check) {
  for (const int workers : {0, 1, 2}) {
    CAPTURE(workers);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      CAPTURE(seed);
      const Report report = measure(chain(workers), seed);
      CAPTURE(report.verdict.text);
      REQUIRE(report.verdict.kind == VerdictKind::drop);
      check(report);
    }
  }
}

}  // namespace

TEST_CASE("a stage that is slowed down live does not hide the one that limits") {
  for_each_report(slowed, [](const Report& report) {
    CHECK(report.verdict.stage == "tokenize");
    CHECK(report.verdict.span.empty());
    CHECK_FALSE(warns(report, "not_representative"));
    CHECK(warns(report, "slowed_live"));
  });
}

TEST_CASE("a stage that remembers samples is still measured together with those before it") {
  for_each_report(remembering, [](const Report& report) {
    CHECK_FALSE(report.verdict.span.empty());
    CHECK(warns(report, "not_representative"));
    CHECK_FALSE(warns(report, "slowed_live"));
  });
}

TEST_CASE("a replayer without unseen blocks cannot tell the two apart") {
  for (const SimulatedChain& chain : {slowed(1), remembering(1)}) {
    const Report report = measure(chain, 1, false);
    CAPTURE(report.verdict.text);
    CHECK(warns(report, "not_representative"));
    CHECK_FALSE(warns(report, "slowed_live"));
  }
}

TEST_CASE("a stage that another one slows down is not named for the time that the step hides") {
  // Inline, tokenize takes 410 us of which the step hides 310, and 558 us next to check. With check
  // free, 160 us go; with tokenize free after that, 100.
  SimulatedChain chain;
  chain.workers = 0;
  chain.cores = 4;
  chain.step_seconds = 8 * 309e-6;
  chain.stages = {
      {.name = "read", .category = Category::read, .kind = CostKind::wait, .seconds = 40e-6},
      {.name = "check", .category = Category::decode, .kind = CostKind::wait, .seconds = 12e-6},
      {.name = "tokenize",
       .category = Category::augment,
       .kind = CostKind::wait,
       .seconds = 410e-6,
       .contended_factor = 1.36}};
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Report report = measure(chain, seed);
    CAPTURE(seed);
    CAPTURE(report.verdict.text);
    CHECK(report.verdict.kind == VerdictKind::drop);
    CHECK(report.verdict.stage != "tokenize");
  }
}
