// Blocks that it takes to certify a planted drop, over all boundaries and with the pilot.
#include <doctest/doctest.h>

#include "cachebisect/base/statistics.hpp"
#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/selftest/draw.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"

using namespace cachebisect;
using namespace cachebisect::selftest;

namespace {

struct PlantedCost {
  std::vector<double> blocks;
  int named = 0;
};

/// Chains of n stages of which one costs 20%, blocks with 1% noise.
PlantedCost certify(int n, int chains) {
  DrawOptions draw_options;
  draw_options.min_stages = draw_options.max_stages = n;
  draw_options.min_drop = draw_options.max_drop = 0.2;
  draw_options.flat_share = 0;
  PlantedCost cost;
  for (int i = 0; i < chains; ++i) {
    const PlantedChain planted = draw(70001 + static_cast<std::uint64_t>(i), draw_options);
    SimulatedReplayer replayer(planted.chain, {.seed = planted.seed, .noise = {.white_cv = 0.01}});
    BisectOptions options;
    options.seed = planted.seed;
    options.explain = false;
    const Report report = bisect(replayer, options);
    cost.blocks.push_back(static_cast<double>(report.blocks.size()));
    cost.named += report.verdict.kind == VerdictKind::drop &&
                          report.verdict.stage_index == planted.truth.largest
                      ? 1
                      : 0;
  }
  MESSAGE("n = " << n << ": median " << median(cost.blocks) << " blocks, p90 "
                 << quantile(cost.blocks, 0.9) << ", named " << cost.named << " of " << chains);
  return cost;
}

}  // namespace

TEST_CASE("a drop of 20% takes few blocks, however long the chain") {
  constexpr int kChains = 50;
  for (const auto& [n, max_blocks] : {std::pair{8, 110.0}, {30, 160.0}, {64, 160.0}}) {
    const PlantedCost cost = certify(n, kChains);
    CHECK(median(cost.blocks) <= max_blocks);
    CHECK(cost.named >= kChains - 1);
  }
}
