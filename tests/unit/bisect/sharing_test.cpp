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

TEST_CASE("sharing that cannot be observed is unknown") {
  CHECK(planted(chain_of(CostKind::memory, 1)).kind == StageSharing::Kind::unknown);
  CHECK(planted(chain_of(CostKind::wait, 2)).kind == StageSharing::Kind::unknown);
  CHECK(planted(chain_of(CostKind::lock, 2)).kind == StageSharing::Kind::unknown);
  SimulatedChain first = chain_of(CostKind::memory, 2);
  first.stages[0].seconds = 0;
  CHECK(planted(first).kind == StageSharing::Kind::unknown);
}
