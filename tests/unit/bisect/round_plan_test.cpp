// The numbers of untimed and timed steps of a block, and why the first is random.
#include "cachebisect/bisect/phases/round_plan.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "support/rounds.hpp"
#include <doctest/doctest.h>

#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"

using namespace cachebisect;

namespace {

RoundPlan plan(int workers, int warmup) {
  RoundPlan plan({.stages = 5, .blocks = {.workers = workers, .ready_from = 4}});
  plan.lengths().set_warmup(warmup);
  return plan;
}

/// How often each number of untimed steps is drawn.
std::map<int, int> draws(const RoundPlan& plan, int boundary) {
  RandomStream random({.seed = 3});
  std::map<int, int> counts;
  for (int i = 0; i < 8000; ++i) ++counts[plan.block(boundary).warmup.draw(random)];
  return counts;
}

RoundPlan batch_plan(int workers, int warmup) {
  RoundPlan plan(
      {.stages = 5, .blocks = {.workers = workers, .loader = LoaderKind::batch, .ready_from = 4}});
  plan.lengths().set_warmup(warmup);
  return plan;
}

SimulatedChain chain(int workers) {
  SimulatedChain chain;
  chain.stages = {
      {.name = "read", .category = Category::read, .kind = CostKind::cpu, .seconds = 0.1e-3},
      {.name = "decode", .kind = CostKind::cpu, .seconds = 1e-3}};
  chain.workers = workers;
  chain.cores = 2;
  return chain;
}

/// Untimed steps of the blocks at a boundary that are evidence.
/// Eight workers that share batches take 0.12 s for each; the step takes 0.1 s.
SimulatedChain slow_chain() {
  SimulatedChain slow = chain(8);
  slow.cores = 8;
  slow.batch_size = 32;
  slow.ring_prefetch = 8;
  slow.step_seconds = 0.1;
  slow.stages[1].seconds = 30e-3;
  return slow;
}

/// Untimed steps of the blocks of a run.
std::set<int> warmups(const SimulatedChain& chain, int boundary) {
  SimulatedReplayer replayer(chain, {.noise = {.white_cv = 0.01}, .keeps_queues = false});
  BisectOptions options;
  options.explain = false;
  std::set<int> steps;
  for (const BlockRecord& block : bisect(replayer, options).blocks) {
    if (block.round >= 0 && block.arm.boundary == boundary) steps.insert(block.result.warmup_steps);
  }
  return steps;
}

}  // namespace

TEST_CASE("with several workers the number of untimed steps is drawn around the usual one") {
  const std::map<int, int> drawn = draws(plan(4, 7), 0);
  CHECK(drawn.begin()->first == 3);
  CHECK(drawn.rbegin()->first == 10);
  CHECK(drawn.size() == 8);
  for (const auto& [steps, count] : drawn) CHECK(count == doctest::Approx(1000).epsilon(0.15));
}

TEST_CASE("at least two steps are untimed") {
  CHECK(draws(plan(16, 3), 0).begin()->first == 2);
  CHECK(draws(plan(4, 2), 0).begin()->first == 2);
}

TEST_CASE("with at most one worker the number of untimed steps is fixed") {
  CHECK(draws(plan(0, 2), 0).size() == 1);
  CHECK(draws(plan(1, 2), 0).size() == 1);
}

TEST_CASE("replay of ready batches needs few untimed steps, as no ring has to fill") {
  const RoundPlan four = plan(4, 21);
  CHECK(four.lengths().warmup(3) == 21);
  CHECK(four.lengths().warmup(4) == 4);
  CHECK(draws(four, 5).rbegin()->first <= 7);
}

TEST_CASE("a run draws the number of untimed steps block by block") {
  CHECK(warmups(chain(1), 0) == std::set{2});
  const std::set<int> two = warmups(chain(2), 0);
  CHECK(two.size() > 2);
  CHECK(*two.begin() >= 3);
  CHECK(*two.rbegin() <= 6);
}

TEST_CASE("workers that crowd out the training thread take longer to settle") {
  SimulatedChain crowded = chain(4);
  crowded.trainer_seconds = 2e-3;
  CHECK(*warmups(crowded, 0).begin() >= 10);
  crowded.cores = 5;
  CHECK(*warmups(crowded, 0).rbegin() <= 10);
}

TEST_CASE("workers that collate for long take longer to settle") {
  SimulatedChain collates = chain(4);
  collates.collate_seconds = 1e-3;
  CHECK(*warmups(collates, 0).begin() >= 17);
  collates.collate_seconds = 0.01e-3;
  CHECK(*warmups(collates, 0).rbegin() <= 10);
}

TEST_CASE("blocks that begin anywhere in a group measure the long-run rate") {
  // Four workers on two cores; one at a time collates, for as long as all the others work.
  SimulatedChain collates = chain(4);
  collates.collate_seconds = 1e-3;
  const double truth = SimulatedRing(collates).seconds_per_sample(0, 4000);
  SimulatedReplayer replayer(collates, {.keeps_queues = false});
  static_cast<void>(replayer.prepare({}, {}));
  const auto block = [&](int warmup) {
    const BlockResult result = replayer.run({.arm = {}, .steps = 4, .warmup_steps = warmup}, {});
    return result.seconds / static_cast<double>(result.samples);
  };
  const RoundPlan four = plan(4, 21);
  RandomStream random({.seed = 4});
  double drawn = 0;
  constexpr int kBlocks = 200;
  for (int i = 0; i < kBlocks; ++i) drawn += block(four.block(0).warmup.draw(random)) / kBlocks;
  CHECK(drawn == doctest::Approx(truth).epsilon(0.01));
  CHECK(std::abs(block(21) / truth - 1) > 0.015);  // always the same place in the group
}

TEST_CASE("with a batch per worker blocks and untimed steps are whole groups, however slow") {
  for (const int workers : {2, 3, 8, 64}) {
    CAPTURE(workers);
    RoundPlan plan = batch_plan(workers, 2 * workers + 1);
    for (const double step_seconds : {1e-4, 1e-2, 0.5}) {
      plan.set_pilot(0, step_seconds);
      CHECK(plan.steps(0) % workers == 0);
      CHECK(plan.lengths().steps_for(step_seconds) == plan.steps(0));
    }
    CHECK(plan.steps(0) == (workers == 2 ? 4 : workers));
    CHECK(plan.lengths().warmup(0) == 3 * workers);
    const std::map<int, int> drawn = draws(plan, 0);
    CHECK(drawn.begin()->first == 3 * workers);
    CHECK(drawn.rbegin()->first == 4 * workers - 1);
    // No worker runs where whole batches are cached.
    plan.set_pilot(5, 0.5);
    CHECK(plan.steps(5) == 3);
    CHECK(draws(plan, 5).size() == 1);
  }
}

TEST_CASE("with gradient accumulation blocks and untimed steps are whole steps of the optimizer") {
  for (const int workers : {0, 1, 2, 3, 8}) {
    for (const int period : {2, 3, 8}) {
      CAPTURE(workers);
      CAPTURE(period);
      RoundPlan plan({.stages = 5,
                      .batch_size = 64,
                      .blocks = {.workers = workers,
                                 .period = period,
                                 .loader = LoaderKind::batch,
                                 .ready_from = 4}});
      plan.lengths().set_warmup(5);
      for (const double step_seconds : {1e-4, 1e-2, 0.5}) {
        plan.set_pilot(0, step_seconds);
        plan.set_pilot(5, step_seconds);
        CHECK(plan.steps(0) % std::lcm(std::max(1, workers), period) == 0);
        CHECK(plan.steps(5) % period == 0);
        CHECK(plan.lengths().whole_steps(3, 0) % period == 0);
        CHECK(plan.lengths().whole_steps(3, 5) % period == 0);
      }
      for (const int boundary : {0, 5}) {
        const std::map<int, int> drawn = draws(plan, boundary);
        CHECK(drawn.size() == 1);
        CHECK(drawn.begin()->first % period == 0);
      }
    }
  }
}

TEST_CASE("blocks hold whole periods of waits where that does not make them much longer") {
  for (const int workers : {0, 1, 2, 3, 8}) {
    for (const auto& [every, step_seconds, whole] :
         {std::tuple{4, 1e-2, true}, {10, 1e-2, true}, {4, 0.5, true}, {100, 1e-2, false}}) {
      CAPTURE(workers);
      CAPTURE(every);
      RoundPlan with(
          {.stages = 5, .batch_size = 64, .blocks = {.workers = workers, .sync_every = every}});
      RoundPlan without({.stages = 5, .batch_size = 64, .blocks = {.workers = workers}});
      for (const int boundary : {0, 5}) {
        with.set_pilot(boundary, step_seconds);
        without.set_pilot(boundary, step_seconds);
        const int usual = without.steps(boundary);
        if (!whole) CHECK(with.steps(boundary) == usual);
        if (whole && usual >= every) CHECK(with.steps(boundary) % every == 0);
        CHECK(with.steps(boundary) <= 4 * usual);
        CHECK(draws(with, boundary) == draws(without, boundary));
      }
    }
  }
}

TEST_CASE("one worker has no groups") {
  RoundPlan plan = batch_plan(1, 2);
  plan.set_pilot(0, 0.5);
  CHECK(plan.steps(0) == 3);
  CHECK(plan.lengths().warmup(0) == 2);
}

TEST_CASE("blocks of whole groups measure the long-run rate of batches that come in bursts") {
  for (const int workers : {2, 4, 8}) {
    CAPTURE(workers);
    SimulatedChain bursts = chain(workers);
    bursts.cores = workers;
    bursts.loader = LoaderKind::batch;
    bursts.step_seconds = 1e-5;
    const double truth = SimulatedRing(bursts).seconds_per_sample(0);
    SimulatedReplayer replayer(bursts, {.keeps_queues = false});
    static_cast<void>(replayer.prepare({}, {}));
    const auto tau = [&](int warmup, int steps) {
      const BlockResult block = replayer.run({.steps = steps, .warmup_steps = warmup}, {});
      return block.seconds / static_cast<double>(block.samples);
    };
    RoundPlan plan = batch_plan(workers, workers);
    plan.set_pilot(0, 0.5);
    RandomStream random({.seed = 5});
    for (int i = 0; i < 20; ++i) {
      CHECK(tau(plan.block(0).warmup.draw(random), plan.steps(0)) == doctest::Approx(truth));
    }
    CHECK(tau(workers, workers - 1) > 1.1 * truth);  // a part of a group
  }
}

TEST_CASE("where queues are kept, few untimed steps do, and blocks begin at each place in turn") {
  SimulatedChain crowded = chain(4);
  crowded.trainer_seconds = 2e-3;
  SimulatedChain slow = slow_chain();
  SimulatedChain slow_collate = slow_chain();
  slow_collate.collate_seconds = 5e-3;
  for (const SimulatedChain& kept : {crowded, slow, slow_collate}) {
    SimulatedReplayer replayer(kept, {.keeps_queues = true});
    int blocks = 0;
    for (const BlockRecord& block : bisect(replayer).blocks) {
      if (block.round < 0 || block.arm.kind != ArmKind::replay || block.arm.boundary != 0) continue;
      ++blocks;
      CHECK(block.result.warmup_steps >= 2);
      CHECK(block.result.warmup_steps <= 4);
      CHECK(std::gcd(block.result.warmup_steps + block.result.steps, 2 * kept.workers) == 1);
    }
    CHECK(blocks > 0);
  }
}

TEST_CASE("kept queues: blocks of a part of a group measure the long-run rate together") {
  for (const int workers : {2, 4, 8}) {
    SimulatedChain bursts = chain(workers);
    bursts.cores = workers;
    bursts.loader = LoaderKind::batch;
    bursts.step_seconds = 1e-5;
    SimulatedReplayer replayer(bursts);
    static_cast<void>(replayer.prepare({}, {}));
    double seconds = 0;
    double samples = 0;
    for (int i = 0; i < 6 * workers; ++i) {
      const BlockResult block = replayer.run({.steps = 3, .warmup_steps = 2}, {});
      seconds += block.seconds;
      samples += static_cast<double>(block.samples);
    }
    CHECK(seconds / samples ==
          doctest::Approx(SimulatedRing(bursts).seconds_per_sample(0)).epsilon(0.03));
  }
}

TEST_CASE("kept queues: batches that come in groups have blocks of whole groups") {
  RoundPlanOptions options{.stages = 5, .blocks = {.workers = 8, .keeps_queues = true}};
  options.candidates = {0, 5};
  RoundPlan plan(options);
  plan.set_pilot(0, 0.1);
  CHECK(plan.steps(0) == 3);
  plan.lengths().set_even_batches(false);
  CHECK(plan.steps(0) == 8);
  options.blocks.loader = LoaderKind::batch;
  RoundPlan own(options);
  own.set_pilot(0, 0.1);
  CHECK(own.steps(0) == 8);
  options.blocks.loader = LoaderKind::sample;
  options.blocks.period = 5;
  RoundPlan periodic(options);
  periodic.set_pilot(0, 0.1);
  CHECK(periodic.steps(0) == 5);
  CHECK(periodic.lengths().warmup(0) == 5);
}

TEST_CASE("a budget that grows leaves time to look for the stage at slow steps") {
  SimulatedChain slow = chain(8);
  slow.cores = 8;
  slow.batch_size = 32;
  slow.ring_prefetch = 8;
  slow.step_seconds = 0.3;
  slow.stages[1].seconds = 94e-3;
  const auto verdict = [&](bool grows) {
    SimulatedReplayer replayer(slow, {.noise = {.white_cv = 0.01}});
    BisectOptions options;
    options.explain = false;
    options.budget_grows = grows;
    return bisect(replayer, options).verdict;
  };
  const Verdict grown = verdict(true);
  CHECK(grown.kind == VerdictKind::drop);
  CHECK(grown.stage_index == 2);
  CHECK(verdict(false).kind == VerdictKind::inconclusive);
}

TEST_CASE("the caches hold what live takes in a super-round") {
  RoundPlan three({.stages = 5, .batch_size = 8, .blocks = {.workers = 2, .keeps_queues = true}});
  three.set_pilot(0, 10e-3);
  const int steps = three.steps(0) + three.block(0).warmup.min;
  CHECK(three.samples_of_super_round() == static_cast<std::uint64_t>(3 * 8 * steps));
}

TEST_CASE("a pilot block that met a stall does not set how long blocks are") {
  RoundTable rounds = RoundTable::of_boundaries(1);
  for (int i = 0; i < 3; ++i) {
    rounds.add(0, test::block_of(40e-3, 40));
    rounds.add(1, test::block_of(40e-3, 40));
    rounds.commit();
  }
  RoundPlan stalled({.stages = 1});
  stalled.set_pilot(0, 0.5);
  stalled.set_pilot(1, 1e-3);
  CHECK(stalled.steps(0) == kMinSteps);
  stalled.update({}, rounds);
  CHECK(stalled.usual_step_seconds(0) == doctest::Approx(1e-3));
  CHECK(stalled.steps(0) == stalled.steps(1));
}
