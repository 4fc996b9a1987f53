// Stalls that blocks of a fraction of a second rarely meet: opening a shard, saving, network
// retries.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "support/sanitized.hpp"
#include "support/text.hpp"
#include "support/virtual_loop.hpp"
#include <doctest/doctest.h>

#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"

using namespace cachebisect;
using test::has;

namespace {

struct Stalls {
  double seconds = 0;
  double every =
      0;  ///< seconds of live loop time, from the end of one to the beginning of the next
};

/// Reading hides behind the step, but for stalls, which begin at a random place.
class StallingLoop final : public test::VirtualLoop {
 public:
  StallingLoop(const Stalls& stalls, std::uint64_t seed)
      : VirtualLoop(0.01, seed),
        stalls_(stalls),
        until_stall_(stalls.every * RandomStream({.seed = seed + 1000}).uniform()) {}

 protected:
  [[nodiscard]] double read_seconds() const override { return 2e-3; }
  double step_seconds(bool live) override {
    if (!live || stalls_.seconds == 0) return kStep;
    until_stall_ -= kStep;
    if (until_stall_ > 0) return kStep;
    until_stall_ += stalls_.every;
    return kStep + stalls_.seconds;
  }

 private:
  static constexpr double kStep = 8e-3;
  Stalls stalls_;
  double until_stall_;
};

/// True if a block of the verdict's rounds, or the run in one piece, has met a stall.
bool met_stall(const Report& report, const Stalls& stalls) {
  constexpr int kLongest = 200;  ///< steps of a pilot's block
  return std::ranges::any_of(report.blocks, [&](const BlockRecord& block) {
    const bool counts = block.round >= 0 || block.result.steps > kLongest;
    const double quiet = 8e-3 * block.result.steps;
    return counts && block.arm.boundary == 0 && block.result.seconds > quiet + 0.5 * stalls.seconds;
  });
}

struct FlatVerdicts {
  int all = 0;
  int despite_stalls = 0;  ///< that were met
};

FlatVerdicts flat_verdicts(const Stalls& stalls, int runs) {
  FlatVerdicts flat;
  for (int seed = 1; seed <= runs; ++seed) {
    StallingLoop loop(stalls, static_cast<std::uint64_t>(seed));
    const Report report = bisect(loop);
    if (report.verdict.kind != VerdictKind::flat) continue;
    ++flat.all;
    if (stalls.seconds > 0 && met_stall(report, stalls)) ++flat.despite_stalls;
  }
  return flat;
}

}  // namespace

TEST_CASE("a loop that stalls for 9% of its time is called flat only where no stall was met") {
  // The run in one piece takes 4 to 8 s here.
  const int often = test::kIsSanitized ? 5 : 15;
  for (const auto& [stalls, most_flat] :
       {std::pair{Stalls{0.2, 2}, 1}, std::pair{Stalls{0.4, 4}, 1},
        std::pair{Stalls{1, 10}, often}}) {
    CAPTURE(stalls.seconds);
    const FlatVerdicts flat = flat_verdicts(stalls, test::kIsSanitized ? 20 : 100);
    CHECK(flat.despite_stalls == 0);
    CHECK(flat.all <= most_flat);
  }
}

TEST_CASE("the sentence says for how long live was watched, and what stalls may cost") {
  StallingLoop loop({0.4, 4}, 3);
  const Report report = bisect(loop);
  CHECK(report.verdict.kind == VerdictKind::inconclusive);
  CHECK(has(report.verdict.text, "Live stalls: they took "));
  CHECK(has(report.verdict.text, "Short blocks met too few of them"));
  REQUIRE_FALSE(report.warnings.empty());
}

TEST_CASE("the budget that an open verdict on stalls asks for is about enough") {
  const Stalls stalls{0.3, 0.9};
  int open = 0;
  int more_than_a_round = 0;
  int decided = 0;
  for (std::uint64_t seed = 1; seed <= (test::kIsSanitized ? 6 : 30); ++seed) {
    StallingLoop brief(stalls, seed);
    const Report report = bisect(brief, {.budget_seconds = 12});
    const auto& needed = report.verdict.needed;
    if (report.verdict.kind != VerdictKind::inconclusive || !needed) continue;
    ++open;
    if (needed->rounds > 1.1 * report.verdict.rounds) ++more_than_a_round;
    StallingLoop longer(stalls, seed);
    const Report again = bisect(longer, {.budget_seconds = 1.5 * needed->seconds});
    if (again.verdict.kind != VerdictKind::inconclusive) ++decided;
  }
  MESSAGE(open << " open, " << more_than_a_round << " ask for over a tenth more, " << decided
               << " decided");
  CHECK(open >= 3);
  CHECK(more_than_a_round >= 0.5 * open);
  CHECK(decided >= 0.6 * open);
}

TEST_CASE("a loop without stalls is flat as before") {
  const int runs = test::kIsSanitized ? 10 : 50;
  CHECK(flat_verdicts({}, runs).all == runs);
  StallingLoop loop({}, 3);
  CHECK(has(bisect(loop).verdict.text, "rarer stalls are not excluded"));
}

TEST_CASE("boundaries between which nothing stalls are left after ten rounds") {
  SimulatedChain chain;
  chain.workers = 1;
  chain.step_seconds = 8e-3;
  chain.stages = {{.name = "read", .seconds = 1e-5}};
  for (const char* name : {"stall", "c", "d", "e", "f"}) {
    chain.stages.push_back({.name = name, .seconds = 1e-5});
  }
  SimulatedReplayer replayer(
      chain,
      {.seed = 5,
       .noise = {
           .white_cv = 0.005, .burst_probability = 0.2, .burst_seconds = 0.3, .burst_stage = 2}});
  const Report report = bisect(replayer);
  const auto visits = [&](int boundary) {
    return std::ranges::count_if(report.blocks, [&](const BlockRecord& block) {
      return block.round >= 0 && block.arm == Arm{.boundary = boundary};
    });
  };
  CAPTURE(report.verdict.text);
  CHECK(report.verdict.stage == "stall");
  REQUIRE(visits(1) >= 30);
  CHECK(visits(2) >= 30);
  for (const int boundary : {3, 4, 5, 6}) {
    CHECK(visits(boundary) >= 10);
    CHECK(visits(boundary) < 0.7 * static_cast<double>(visits(1)));
  }
}

TEST_CASE("a steady stage does not lead a sentence under stalls that cost more") {
  SimulatedChain chain;
  chain.workers = 1;
  chain.step_seconds = 8e-3;
  chain.stages = {{.name = "read", .seconds = 1e-5},
                  {.name = "stall", .seconds = 1e-5},
                  {.name = "steady", .seconds = 1.08e-3}};
  const int runs = test::kIsSanitized ? 4 : 20;
  for (int seed = 1; seed <= runs; ++seed) {
    CAPTURE(seed);
    SimulatedReplayer replayer(chain, {.seed = static_cast<std::uint64_t>(seed),
                                       .noise = {.white_cv = 0.005,
                                                 .burst_probability = 0.06,
                                                 .burst_seconds = 0.15,
                                                 .burst_stage = 2}});
    const Report report = bisect(replayer);
    const double stall = report.stages[1].drop.value.value_or(0);
    const double steady = report.stages[2].drop.value.value_or(0);
    CAPTURE(report.verdict.text);
    if (stall <= steady) continue;
    CHECK(report.verdict.stage != "steady");
    if (report.verdict.kind == VerdictKind::drop) continue;
    // Boundaries 0 and 1 both meet stalls: by chance, those of read may seem the larger part.
    const double read = report.stages[0].drop.value.value_or(0);
    const std::string first = read > stall ? "read" : "stall";
    CHECK(report.verdict.tied_with == std::vector<std::string>{first, "steady"});
    CHECK(has(report.verdict.text, first + " costs "));
    CHECK(has(report.verdict.text, "and steady costs "));
  }
}
