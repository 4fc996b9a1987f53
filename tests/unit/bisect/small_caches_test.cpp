// Caches that hold fewer samples than the blocks of an arm in a super-round serve.
#include <map>
#include <stop_token>

#include "support/forwarding_replayer.hpp"
#include <doctest/doctest.h>

#include "cachebisect/bisect/bisect.hpp"

using namespace cachebisect;

namespace {

/// Its budgets hold so many samples.
class SmallCaches final : public test::ForwardingReplayer {
 public:
  SmallCaches(const SimulatedChain& chain, std::uint64_t most)
      : ForwardingReplayer(chain, {.noise = {.white_cv = 0.002}}), most_(most) {}

  CacheFacts prepare(const CacheBudget& budget, const std::stop_token& stop) override {
    CacheFacts facts = ForwardingReplayer::prepare(budget, stop);
    facts.most_samples = most_;
    return facts;
  }

 private:
  std::uint64_t most_;
};

/// Blocks of live in the longest super-round.
int most_blocks(std::uint64_t most_samples) {
  SimulatedChain chain;
  chain.stages = {{.name = "read", .category = Category::read, .seconds = 1e-5},
                  {.name = "decode", .category = Category::decode, .seconds = 2e-3}};
  chain.workers = 1;
  chain.batch_size = 8;
  chain.step_seconds = 10e-3;
  SmallCaches replayer(chain, most_samples);
  const Report report = bisect(replayer, {.sustain_seconds = 0, .explain = false});
  CHECK(report.verdict.stage == "decode");
  std::map<int, int> blocks;
  for (const BlockRecord& block : report.blocks) {
    if (block.phase == BlockPhase::measure && block.arm == Arm{}) ++blocks[block.super_round];
  }
  int most = 0;
  for (const auto& [round, count] : blocks) most = std::max(most, count);
  return most;
}

}  // namespace

TEST_CASE("a super-round has no more blocks of an arm than the caches hold samples for") {
  CHECK(most_blocks(0) == 3);
  CHECK(most_blocks(1'000'000) == 3);
  CHECK(most_blocks(8) == 1);
}
