#include "cachebisect/simulate/simulated_replayer.hpp"

#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/simulate/simulated_overrides.hpp"

using namespace cachebisect;

namespace {

/// One worker, 2 ms per sample: read 0.5, decode 1, crop 0.5; batches of 4; steps of 2 ms.
SimulatedChain chain_of_three() {
  SimulatedChain chain;
  chain.stages = {
      {.name = "read", .category = Category::read, .kind = CostKind::wait, .seconds = 0.5e-3},
      {.name = "decode", .kind = CostKind::cpu, .seconds = 1e-3},
      {.name = "crop", .kind = CostKind::lock, .seconds = 0.5e-3}};
  chain.batch_size = 4;
  chain.workers = 1;
  chain.step_seconds = 2e-3;
  return chain;
}

BlockResult run(SimulatedReplayer& replayer, const Arm& arm, int steps = 40) {
  return replayer.run({.arm = arm, .steps = steps, .warmup_steps = 10}, {});
}

double batch_seconds(const BlockResult& block) { return block.seconds / block.steps; }

double replayed(const SimulatedChain& chain, const Arm& arm) {
  SimulatedReplayer replayer(chain);
  static_cast<void>(replayer.prepare({}, {}));
  return batch_seconds(run(replayer, arm));
}

/// Samples 0 to 3 cost nothing but reading, the others 1 ms more.
SimulatedChain with_light_beginning() {
  SimulatedChain chain = chain_of_three();
  chain.stages[1].factor = [](std::uint64_t index) { return index < 4 ? 0.0 : 1.0; };
  return chain;
}

}  // namespace

TEST_CASE("a bypass removes the cost of one stage, at any position") {
  const SimulatedChain chain = chain_of_three();
  CHECK(replayed(chain, {}) == doctest::Approx(8e-3).epsilon(0.01));
  CHECK(replayed(chain, {.kind = ArmKind::bypass, .stage = 1}) ==
        doctest::Approx(6e-3).epsilon(0.01));
  CHECK(replayed(chain, {.kind = ArmKind::bypass, .stage = 2}) ==
        doctest::Approx(4e-3).epsilon(0.01));
  SimulatedChain slow_copy = chain;
  slow_copy.copy_latency_seconds = 20e-3;
  CHECK(replayed(slow_copy, {}) == doctest::Approx(20e-3).epsilon(0.01));
  CHECK(replayed(slow_copy, {.kind = ArmKind::bypass, .stage = 5}) ==
        doctest::Approx(8e-3).epsilon(0.01));
  SimulatedChain slow_collate = chain;
  slow_collate.collate_seconds = 3e-3;
  CHECK(replayed(slow_collate, {}) == doctest::Approx(20e-3).epsilon(0.01));
  CHECK(replayed(slow_collate, {.boundary = 4}) == doctest::Approx(2e-3).epsilon(0.01));
  CHECK(replayed(slow_collate, {.kind = ArmKind::bypass, .stage = 4}) ==
        doctest::Approx(8e-3).epsilon(0.01));
}

TEST_CASE("a shadow is as fast as the step alone unless the workers compete for its cores") {
  SimulatedChain chain = chain_of_three();
  const Arm shadow{.kind = ArmKind::shadow};
  CHECK(replayed(chain, shadow) == doctest::Approx(2e-3).epsilon(0.01));
  // A step of 3 ms on the CPU against four workers that want all of both cores.
  chain.stages = {{.name = "decode", .kind = CostKind::cpu, .seconds = 3e-3}};
  chain.workers = 4;
  chain.cores = 2;
  chain.step_seconds = 0;
  chain.trainer_seconds = 3e-3;
  chain.device_is_host = true;
  const double alone = replayed(chain, {.boundary = 3});
  const double shadowed = replayed(chain, shadow);
  const double live = replayed(chain, {});
  CHECK(alone == doctest::Approx(3e-3).epsilon(0.01));
  CHECK(shadowed > 1.5 * alone);
  // 12 ms of decoding and 3 ms of training, on two cores.
  CHECK(live == doctest::Approx(7.5e-3).epsilon(0.03));
  CHECK(live >= doctest::Approx(shadowed).epsilon(0.03));  // cores change hands in slices
  // Without workers nothing runs alongside the step.
  chain.workers = 0;
  CHECK(replayed(chain, shadow) == doctest::Approx(3e-3).epsilon(0.01));
}

TEST_CASE("overrides act as --set would, and those without a meaning are refused") {
  const SimulatedChain chain = chain_of_three();
  const auto live = [](std::map<std::string, std::string> overrides) {
    return Arm{.kind = ArmKind::live, .overrides = std::move(overrides)};
  };
  CHECK(replayed(chain, live({{"workers", "2"}})) == doctest::Approx(4e-3).epsilon(0.01));
  CHECK(replayed(chain, live({{"stages.decode.us", "250"}})) ==
        doctest::Approx(5e-3).epsilon(0.01));
  CHECK(replayed(chain, live({{"stages.1.us", "0"}, {"workers", "2"}})) ==
        doctest::Approx(2e-3).epsilon(0.02));
  CHECK(replayed(chain, live({{"batch_size", "8"}})) == doctest::Approx(16e-3).epsilon(0.01));
  CHECK(replayed(chain, live({{"emulate.step_ms", "20"}})) == doctest::Approx(20e-3).epsilon(0.01));
  const SimulatedReplayer replayer(chain);
  for (const auto& [path, value] : std::map<std::string, std::string>{{"stages.crp.us", "1"},
                                                                      {"stages.crop.bytes", "1"},
                                                                      {"stages.9.us", "1"},
                                                                      {"workers", "-1"},
                                                                      {"workers", "\"auto\""},
                                                                      {"batch_size", "0"},
                                                                      {"seed", "2"}}) {
    CAPTURE(path);
    CHECK_FALSE(replayer.supports(live({{path, value}})));
  }
  CHECK(with_overrides(chain, {{"stages.copy.prefetch", "0"}})->copy_prefetch == 0);
  // As the edits of a remedy name it: behind the sample stages and collate.
  const std::string by_index = "stages." + std::to_string(chain.stages.size() + 1) + ".prefetch";
  CHECK(with_overrides(chain, {{by_index, "0"}})->copy_prefetch == 0);
}

TEST_CASE("inline counters hold the costs of the stages, and only if observed") {
  SimulatedReplayer replayer(chain_of_three(), {.probe_share = 0.01});
  static_cast<void>(replayer.prepare({}, {}));
  const BlockResult seen = run(replayer, {});
  REQUIRE(seen.stages.size() == 5);
  const auto& decode = seen.stages[1];
  CHECK(decode.busy_seconds / static_cast<double>(decode.samples) == doctest::Approx(1e-3));
  CHECK(decode.cpu_seconds == doctest::Approx(decode.busy_seconds));
  CHECK(seen.stages[0].cpu_seconds == 0);
  CHECK(seen.stages[2].serial_seconds / static_cast<double>(seen.stages[2].samples) ==
        doctest::Approx(0.5e-3));
  // 8 ms per batch, 2 ms of them the step, which a starved trainer waits out before it asks again.
  CHECK(seen.starved_seconds / seen.seconds > 0.9);
  CHECK(*seen.ready_batches < 0.3);
  const BlockResult unseen = run(replayer, {.observed = false});
  CHECK(unseen.stages.empty());
  CHECK(seen.seconds == doctest::Approx(1.01 * unseen.seconds));
}

TEST_CASE("caches are refilled with other samples, and serve only as many as requested") {
  SimulatedChain chain = chain_of_three();
  chain.stages[1].jitter = {.kind = Jitter::Kind::pareto, .cv = 1};
  SimulatedReplayer replayer(chain);
  const CacheFacts facts = replayer.prepare({}, {});
  const double all = batch_seconds(run(replayer, {.boundary = 1}));
  const double few = batch_seconds(run(replayer, {.boundary = 1, .cache_samples = 4}));
  CHECK(all / few != doctest::Approx(1).epsilon(1e-3));
  const auto doubled = replayer.refill(2 * facts.samples, {});
  REQUIRE(doubled);
  CHECK(doubled->samples == 2 * facts.samples);
  CHECK(replayer.refill(0, {})->samples == 2 * facts.samples);
  CHECK_FALSE(replayer.refill(chain.samples + 4, {}));
}

TEST_CASE(
    "caches hold whole periods of the jitter, so that a replay costs as much as the data set") {
  SimulatedChain chain = chain_of_three();
  chain.batch_size = 16;
  chain.stages[1].jitter = {.kind = Jitter::Kind::pareto, .cv = 0.5};
  for (const int workers : {0, 1, 2, 4}) {
    CAPTURE(workers);
    chain.workers = workers;
    chain.cores = workers + 1;
    SimulatedReplayer replayer(chain);
    CHECK(replayer.prepare({}, {}).samples % JitterSequence::kPeriod == 0);
    double seconds = 0;
    constexpr int kRounds = 24;
    for (int round = 0; round < kRounds; ++round) {
      replayer.begin_round();
      seconds += batch_seconds(run(replayer, {.boundary = 1}, 20)) / kRounds;
    }
    const double truth = 16 * SimulatedRing(chain).seconds_per_sample(1, 512);
    CHECK(seconds == doctest::Approx(truth).epsilon(0.003));
  }
}

TEST_CASE("a block does not depend on the blocks before it") {
  SimulatedChain chain = chain_of_three();
  chain.stages[0].jitter = {.kind = Jitter::Kind::lognormal, .cv = 0.5};
  for (const int cores : {1, 8}) {
    chain.cores = cores;
    chain.workers = 2;
    for (const int boundary : {0, 1}) {
      CAPTURE(cores);
      CAPTURE(boundary);
      const Arm arm{.boundary = boundary};
      SimulatedReplayer fresh(chain);
      static_cast<void>(fresh.prepare({}, {}));
      const BlockResult alone = run(fresh, arm, 6);
      SimulatedReplayer used(chain);
      static_cast<void>(used.prepare({}, {}));
      // The two begin 64 samples apart, the period of the jitter.
      static_cast<void>(used.run({.arm = arm, .steps = 14, .warmup_steps = 2}, {}));
      const BlockResult later = run(used, arm, 6);
      CHECK(later.seconds == doctest::Approx(alone.seconds).epsilon(1e-9));
      CHECK(later.cpu_seconds == doctest::Approx(alone.cpu_seconds).epsilon(0.2));
      CHECK(later.stages[1].busy_seconds ==
            doctest::Approx(alone.stages[1].busy_seconds).epsilon(0.2));
    }
  }
}

TEST_CASE("caches that are freshened serve samples that they have not served before") {
  const SimulatedChain chain = with_light_beginning();
  for (const int workers : {0, 1}) {
    CAPTURE(workers);
    SimulatedChain loading = chain;
    loading.workers = workers;
    SimulatedReplayer replayer(loading);
    static_cast<void>(replayer.prepare({}, {}));
    static_cast<void>(replayer.refill(4, {}));
    CHECK(replayer.freshen(400, {}));
    const double fresh = batch_seconds(run(replayer, {.boundary = 1}));
    CHECK(fresh == doctest::Approx(6e-3 + (workers == 0 ? 2e-3 : 0)).epsilon(0.02));
  }
}

TEST_CASE("where the costs of samples repeat, others would cost the same") {
  SimulatedReplayer replayer(chain_of_three());
  static_cast<void>(replayer.prepare({}, {}));
  CHECK_FALSE(replayer.freshen(400, {}));
}

TEST_CASE("a block is slower at first if more stages ran live in the one before") {
  SimulatedOptions options;
  options.noise.carried = 0.2;
  SimulatedReplayer replayer(chain_of_three(), options);
  static_cast<void>(replayer.prepare({}, {}));
  const auto ceiling = [&](int warmup_steps) {
    return replayer.run({.arm = {.boundary = 5}, .steps = 10, .warmup_steps = warmup_steps}, {})
        .seconds;
  };
  const auto live = [&] { return run(replayer, {}).seconds; };
  const double quiet = 10 * 2e-3;
  live();
  CHECK(ceiling(0) == doctest::Approx(quiet + 0.2 * 5e-3).epsilon(0.01));
  CHECK(ceiling(0) == doctest::Approx(quiet).epsilon(1e-6));  // after a block of its own
  live();
  CHECK(ceiling(10) == doctest::Approx(quiet + 0.2 * 5e-3 * std::exp(-4)).epsilon(1e-3));
  CHECK(live() == doctest::Approx(40 * 8e-3).epsilon(0.01));
}

TEST_CASE("replays cycle through what the caches were freshened with") {
  SimulatedChain chain = chain_of_three();
  // The cost of a sample is its index.
  chain.stages[1].factor = [](std::uint64_t index) { return static_cast<double>(index); };
  SimulatedReplayer replayer(chain, {.keeps_queues = true});
  static_cast<void>(replayer.prepare({}, {}));
  CHECK(replayer.freshen(16, {}));
  const double first = run(replayer, {.boundary = 1}).seconds;
  CHECK(run(replayer, {.boundary = 1}, 42).seconds ==
        doctest::Approx(first * 42 / 40).epsilon(0.1));
  CHECK(replayer.freshen(16, {}));
  CHECK(run(replayer, {.boundary = 1}).seconds > 1.2 * first);
}

TEST_CASE("a run in one piece is timed in groups, and ends after its limit") {
  SimulatedReplayer replayer(chain_of_three(), {.noise = {.white_cv = 0.01}});
  static_cast<void>(replayer.prepare({}, {}));
  const BlockResult whole = replayer.run({.steps = 60, .warmup_steps = 10, .groups = 6}, {});
  REQUIRE(whole.group_taus.size() == 6);
  double sum = 0;
  for (const double tau : whole.group_taus) sum += tau * 40;
  CHECK(sum == doctest::Approx(whole.seconds));
  CHECK(whole.group_taus[0] != whole.group_taus[1]);
  BlockRequest limited{.steps = 60, .warmup_steps = 10, .groups = 6};
  limited.max_seconds = 1.5 * whole.seconds / 6;
  const BlockResult cut = replayer.run(limited, {});
  CHECK(cut.group_taus.size() == 2);
  CHECK(cut.steps == 20);
  CHECK(cut.samples == 80);
}
