#include "cachebisect/bisect/evidence/replay_fidelity.hpp"

#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "cachebisect/base/random.hpp"
#include "cachebisect/bisect/evidence/busy_ratio.hpp"

using namespace cachebisect;

namespace {

constexpr std::uint64_t kBlockSamples = 1000;

/// read, a, b, then collate on the host.
ChainDescription chain_of(int workers) {
  ChainDescription chain;
  for (const char* const name : {"read", "a", "b", "collate"}) {
    chain.stages.push_back({.name = name, .held = Held::host});
  }
  chain.workers = workers;
  return chain;
}

/// A block that took `tau` per sample, with the seconds per sample of each stage, all of it CPU.
BlockRecord record_of(int round, int boundary, double tau, const std::vector<double>& seconds) {
  BlockRecord block{.round = round,
                    .super_round = round - round % kUsualRepeats,
                    .arm = {.boundary = boundary},
                    .result = {}};
  block.result.samples = kBlockSamples;
  block.result.seconds = tau * kBlockSamples;
  block.result.stages.resize(seconds.size());
  for (std::size_t s = static_cast<std::size_t>(boundary); s < seconds.size(); ++s) {
    StageCounters& stage = block.result.stages[s];
    stage.samples = kBlockSamples;
    stage.busy_seconds = seconds[s] * kBlockSamples;
    stage.cpu_seconds = stage.busy_seconds;
  }
  return block;
}

std::vector<Distortion> distortions_of(const ChainDescription& chain, double replay_tau,
                                       const std::vector<double>& live,
                                       const std::vector<double>& replayed,
                                       std::vector<double> item_bytes = {}, int rounds = 20) {
  ReplayFidelity fidelity(chain, {.confidence = 0.99, .cores = 8, .item_bytes = item_bytes});
  std::vector<BlockRecord> blocks;
  for (int round = 0; round < rounds; ++round) {
    const double wobble = 1 + 0.002 * (round % 3 - 1);
    blocks.push_back(record_of(round, 1, replay_tau * wobble, replayed));
    blocks.push_back(record_of(round, 0, 1e-3 * wobble, live));
    if (round % kUsualRepeats == kUsualRepeats - 1) fidelity.update(blocks);
  }
  fidelity.update(blocks);
  return fidelity.distortions();
}

/// Ratios of four stages on 8 cores, from rounds of a live block and a replay at boundary 1.
std::vector<Estimate> ratios_of(const std::vector<double>& live,
                                const std::vector<double>& replayed, int rounds,
                                const std::function<void(BlockRecord&)>& change_live = {}) {
  std::vector<BlockRecord> blocks;
  for (int round = 0; round < rounds; ++round) {
    blocks.push_back(record_of(round, 1, 1e-3, replayed));
    blocks.push_back(record_of(round, 0, 1e-3, live));
    if (change_live) change_live(blocks.back());
  }
  return replayed_busy_ratios(blocks, chain_of(2), 0.99, 8);
}

}  // namespace

TEST_CASE("a stage that remembers samples is named with both figures") {
  const auto all =
      distortions_of(chain_of(2), 0.25e-3, {5e-6, 2e-3, 5e-6, 5e-6}, {0, 5e-6, 5e-6, 5e-6});
  REQUIRE(all.size() == 1);
  CHECK(all[0].boundary == 1);
  CHECK(all[0].stage == 2);
  CHECK(all[0].certified);
  CHECK(all[0].share > 0.7);
  CHECK(all[0].live_seconds == doctest::Approx(2e-3));
  CHECK(all[0].replayed_seconds == doctest::Approx(5e-6));
}

TEST_CASE("a difference that the training step hides is none") {
  // The step takes 1 ms per sample in both arms, the workers at most 0.3 ms.
  CHECK(
      distortions_of(chain_of(2), 1e-3, {5e-6, 0.5e-3, 5e-6, 5e-6}, {0, 5e-6, 5e-6, 5e-6}).empty());
}

TEST_CASE("stages that cost the same are faithful") {
  CHECK(
      distortions_of(chain_of(0), 0.9e-3, {1e-4, 8e-4, 5e-5, 5e-5}, {0, 8e-4, 5e-5, 5e-5}).empty());
}

TEST_CASE("a reader whose input comes from memory takes longer when replayed") {
  const std::vector<double> live{5e-4, 4e-4, 0, 0};
  const std::vector<double> cold{0, 6e-4, 0, 0};
  const auto all = distortions_of(chain_of(1), 6e-4, live, cold, {0, 1.5e6, 8, 8, 8});
  REQUIRE(all.size() == 1);
  CHECK(all[0].stage == 2);
  CHECK(all[0].share == doctest::Approx(-0.2).epsilon(0.05));
  // Small items do not take so long: the stage waits for something that live waits for too.
  CHECK(distortions_of(chain_of(1), 6e-4, live, cold, {0, 1000, 8, 8, 8}).empty());
}

TEST_CASE("a reader that replays as fast as the training step alone is not slowed down") {
  const std::vector<double> live{5e-4, 4e-4, 0, 0};
  const std::vector<double> cold{0, 6e-4, 0, 0};
  const ChainDescription chain = chain_of(1);
  for (const double ceiling : {5e-4, 6e-4}) {
    ReplayFidelity fidelity(chain, {.cores = 8, .item_bytes = {0, 1.5e6, 8, 8, 8}});
    std::vector<BlockRecord> blocks;
    for (int round = 0; round < 24; ++round) {
      blocks.push_back(record_of(round, 0, 1e-3, live));
      blocks.push_back(record_of(round, 1, 6.1e-4, cold));
      blocks.push_back(record_of(round, 4, ceiling, {0, 0, 0, 0}));
    }
    for (std::size_t end = 9; end <= blocks.size(); end += 9) {
      fidelity.update({blocks.data(), end});
    }
    CHECK(fidelity.distortions().empty() == (ceiling > 5.5e-4));
  }
}

TEST_CASE("a difference is likely before it is certified") {
  const auto all =
      distortions_of(chain_of(2), 0.25e-3, {5e-6, 2e-3, 5e-6, 5e-6}, {0, 5e-6, 5e-6, 5e-6}, {}, 5);
  REQUIRE(all.size() == 1);
  CHECK_FALSE(all[0].certified);
  CHECK(distortions_of(chain_of(2), 0.25e-3, {5e-6, 2e-3, 5e-6, 5e-6}, {0, 5e-6, 5e-6, 5e-6}, {}, 2)
            .empty());
}

TEST_CASE("noise alone makes no difference certain") {
  const ChainDescription chain = chain_of(1);
  int certified = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream random({.seed = seed});
    const auto noisy = [&](int round, int boundary, const std::vector<double>& seconds) {
      const double factor = std::exp(0.1 * random.normal());
      std::vector<double> stretched = seconds;
      for (double& stage : stretched) stage *= factor;
      const double tau = std::accumulate(stretched.begin(), stretched.end(), 0.0);
      return record_of(round, boundary, tau, stretched);
    };
    ReplayFidelity fidelity(chain, {.cores = 8, .item_bytes = {0, 1.5e6, 8, 8, 8}});
    std::vector<BlockRecord> blocks;
    for (int round = 0; round < 100; ++round) {
      blocks.push_back(noisy(round, 0, {1e-5, 9e-4, 5e-5, 4e-5}));
      blocks.push_back(noisy(round, 1, {0, 9e-4, 5e-5, 4e-5}));
    }
    fidelity.update(blocks);
    for (const Distortion& distortion : fidelity.distortions()) certified += distortion.certified;
  }
  CHECK(certified == 0);
}

TEST_CASE("a stage that waits is not cheaper because the replay alone was crowded") {
  // Without the reader the loop keeps a larger share of its one core busy.
  const ChainDescription chain = chain_of(0);
  const auto distortions = [&](double replayed_wait) {
    ReplayFidelity fidelity(chain, {.cores = 1, .item_bytes = {}});
    std::vector<BlockRecord> blocks;
    for (int round = 0; round < 20; ++round) {
      blocks.push_back(record_of(round, 0, 1e-3, {5e-4, 3e-4, 2e-4, 0}));
      blocks.back().result.stages[1].cpu_seconds = 0;
      blocks.back().result.cpu_seconds = 0.7 * blocks.back().result.seconds;
      blocks.push_back(record_of(round, 1, 5e-4, {0, replayed_wait, 2e-4, 0}));
      blocks.back().result.stages[1].cpu_seconds = 0;
      blocks.back().result.cpu_seconds = 0.8 * blocks.back().result.seconds;
    }
    fidelity.update(blocks);
    return fidelity.distortions();
  };
  CHECK(distortions(3e-4).empty());
  const auto remembers = distortions(5e-6);
  REQUIRE(remembers.size() == 1);
  CHECK(remembers[0].certified);
  CHECK(remembers[0].replayed_seconds == doctest::Approx(5e-6));
}

TEST_CASE("on crowded cores only CPU time is compared") {
  BlockRecord block = record_of(0, 0, 1e-3, {1e-4, 5e-4, 0, 0});
  block.result.stages[1].busy_seconds *= 3;
  block.result.cpu_seconds = 0.5 * block.result.seconds;
  const ChainDescription chain = chain_of(2);
  CHECK(own_seconds(block.result, chain, 2)[1].all == doctest::Approx(1.5e-3));
  block.result.cpu_seconds = 1.9 * block.result.seconds;
  CHECK(own_seconds(block.result, chain, 2)[1].all == doctest::Approx(5e-4));
}

TEST_CASE("the busy seconds of each stage are compared, replayed over live") {
  const auto ratios = ratios_of({5e-6, 2e-3, 5e-6, 0}, {0, 5e-6, 5e-6, 0}, 20);
  REQUIRE(ratios.size() == 4);
  CHECK_FALSE(ratios[0].value.has_value());  // no replay runs it
  REQUIRE(ratios[1].value.has_value());
  CHECK(*ratios[1].value == doctest::Approx(5e-6 / 2e-3));
  CHECK(ratios[1].interval->low < *ratios[1].value);
  CHECK(ratios[1].interval->high > *ratios[1].value);
  CHECK(ratios[1].interval->high < 0.01);
  CHECK(*ratios[2].value == doctest::Approx(1));
  CHECK_FALSE(ratios[3].value.has_value());  // its probes saw nothing
}

TEST_CASE("a busy ratio needs enough rounds for an interval") {
  CHECK_FALSE(ratios_of({5e-6, 2e-3, 5e-6, 0}, {0, 5e-6, 5e-6, 0}, 5)[1].value.has_value());
}

TEST_CASE("if one of the two blocks was crowded, CPU time is compared with CPU time") {
  const auto crowd = [](BlockRecord& block) {
    block.result.cpu_seconds = 7.9 * block.result.seconds;
    block.result.stages[1].cpu_seconds /= 2;
  };
  const auto ratios = ratios_of({5e-6, 2e-3, 5e-6, 0}, {0, 2e-3, 5e-6, 0}, 20, crowd);
  CHECK(*ratios[1].value == doctest::Approx(2));
}

TEST_CASE("of several boundaries before a stage the one of most rounds tells its busy ratio") {
  std::vector<BlockRecord> blocks;
  for (int round = 0; round < 30; ++round) {
    blocks.push_back(record_of(round, 0, 1e-3, {1e-4, 1e-4, 1e-4, 0}));
    blocks.push_back(record_of(round, 1, 1e-3, {0, 1e-4, 1e-4, 0}));
    if (round < 15) blocks.push_back(record_of(round, 2, 1e-3, {0, 0, 3e-4, 0}));
  }
  const auto ratios = replayed_busy_ratios(blocks, chain_of(2), 0.99, 8);
  CHECK(*ratios[2].value == doctest::Approx(1));
}

namespace {

/// Rounds of live, a replay at boundary 1 of 0.7 ms per sample instead of 1, and an unseen block.
ReplayFidelity with_unseen(const ChainDescription& chain, double unseen_seconds, int rounds = 20) {
  ReplayFidelity fidelity(chain, {.confidence = 0.99, .cores = 8, .item_bytes = {}});
  std::vector<BlockRecord> blocks;
  for (int round = 0; round < rounds; ++round) {
    const double wobble = 1 + 0.002 * (round % 3 - 1);
    blocks.push_back(record_of(round, 1, 7e-4, {0, 7e-4 * wobble, 0, 0}));
    blocks.push_back(record_of(round, 1, 7e-4, {0, unseen_seconds * wobble, 0, 0}));
    blocks.back().arm.kind = ArmKind::unseen;
    blocks.push_back(record_of(round, 0, 1.2e-3, {2e-4, 1e-3 * wobble, 0, 0}));
    if (round % 2 == 1) std::swap(blocks[blocks.size() - 1], blocks[blocks.size() - 3]);
  }
  fidelity.update(blocks);
  return fidelity;
}

}  // namespace

TEST_CASE("a stage that is as cheap for samples that it has never had is slowed down live") {
  const ChainDescription chain = chain_of(0);
  const ReplayFidelity fidelity = with_unseen(chain, 7e-4);
  CHECK(fidelity.distortions().empty());
  const auto slowed = fidelity.slowed();
  REQUIRE(slowed.size() == 1);
  CHECK(slowed[0].boundary == 1);
  CHECK(slowed[0].stage == 2);
  CHECK(slowed[0].live_seconds == doctest::Approx(1e-3).epsilon(1e-2));
  CHECK(slowed[0].replayed_seconds == doctest::Approx(7e-4).epsilon(1e-2));
}

TEST_CASE("a stage that is dearer for samples that it has never had remembers them") {
  const ChainDescription chain = chain_of(0);
  for (const double unseen : {1e-3, 8e-4}) {
    const ReplayFidelity fidelity = with_unseen(chain, unseen);
    REQUIRE(fidelity.distortions().size() == 1);
    CHECK(fidelity.distortions()[0].certified);
    CHECK(fidelity.distortions()[0].remembers);
    CHECK(fidelity.slowed().empty());
  }
}

TEST_CASE("few unseen blocks decide nothing") {
  const ChainDescription chain = chain_of(0);
  const ReplayFidelity fidelity = with_unseen(chain, 7e-4, 5);
  REQUIRE(fidelity.distortions().size() == 1);
  CHECK_FALSE(fidelity.distortions()[0].remembers);
  CHECK(fidelity.slowed().empty());
}
