#include "cachebisect/bisect/costs/sharing.hpp"

#include "support/measured.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;

namespace {

/// 100 us of reading before 400 us of the planted stage and 10 us after it.
SimulatedChain chain_of(CostKind kind, int workers) {
  SimulatedChain chain;
  chain.cores = 4;
  chain.workers = workers;
  chain.stages = {
      {.name = "read", .category = Category::read, .kind = CostKind::wait, .seconds = 100e-6},
      {.name = "planted", .category = Category::augment, .kind = kind, .seconds = 400e-6},
      {.name = "flip", .category = Category::augment, .seconds = 10e-6}};
  return chain;
}

StageSharing planted(const SimulatedChain& chain) {
  const Measurements measured = test::measure_chain(
      chain, {.budget_seconds = 30, .boundaries = {0, 1, 2, chain.boundaries()}});
  return find_sharing(measured, RoundRatios(measured)).at(1);
}

}  // namespace

TEST_CASE("a stage that slows down as the stages before it are cached shares a resource") {
  const StageSharing found = planted(chain_of(CostKind::memory, 2));
  CHECK(found.kind == StageSharing::Kind::shared);
  CHECK(found.share == doctest::Approx(1).epsilon(0.02));
}

TEST_CASE("a stage whose cost does not depend on the other stages shares no resource") {
  CHECK(planted(chain_of(CostKind::cpu, 2)).kind == StageSharing::Kind::alone);
}

TEST_CASE("a stage holds no resource for longer than it computes, whatever its counters say") {
  SimulatedChain chain = chain_of(CostKind::cpu, 2);
  chain.stages[0].seconds = 5e-6;
  chain.stages[1].seconds = 20e-6;
  chain.stages[2].kind = CostKind::wait;
  chain.stages[2].seconds = 380e-6;
  Measurements measured = test::measure_chain(
      chain, {.budget_seconds = 30, .boundaries = {0, 1, 2, chain.boundaries()}});
  for (BlockRecord& block : measured.blocks) {
    if (block.arm.boundary > 0 || block.result.stages.size() < 2) continue;
    // As if the time of the stage before it had moved to this one when that was cached.
    block.result.stages[1].cpu_seconds -= 5e-6 * static_cast<double>(block.result.samples);
  }
  const auto sharing = find_sharing(measured, RoundRatios(measured));
  CHECK(sharing.at(1).kind == StageSharing::Kind::unknown);
}

TEST_CASE("sharing that cannot be observed is unknown") {
  CHECK(planted(chain_of(CostKind::memory, 1)).kind == StageSharing::Kind::unknown);
  CHECK(planted(chain_of(CostKind::wait, 2)).kind == StageSharing::Kind::unknown);
  CHECK(planted(chain_of(CostKind::lock, 2)).kind == StageSharing::Kind::unknown);
  SimulatedChain first = chain_of(CostKind::memory, 2);
  first.stages[0].seconds = 0;
  CHECK(planted(first).kind == StageSharing::Kind::unknown);
}
