#include "cachebisect/bisect/costs/sharing.hpp"

#include <doctest/doctest.h>

#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"

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
  SimulatedReplayer replayer(chain, {.noise = {.white_cv = 0.01}});
  const Report report =
      bisect(replayer, {.budget_seconds = 30, .boundaries = {0, 1, 2, chain.boundaries()}});
  return find_sharing(report, RoundRatios(report)).at(1);
}

}  // namespace

TEST_CASE("a stage that takes over the time of those before it shares something") {
  const StageSharing found = planted(chain_of(CostKind::memory, 2));
  CHECK(found.kind == StageSharing::Kind::shared);
  CHECK(found.share == doctest::Approx(1).epsilon(0.02));
}

TEST_CASE("a stage that takes as long whatever runs beside it shares nothing") {
  CHECK(planted(chain_of(CostKind::cpu, 2)).kind == StageSharing::Kind::alone);
}

TEST_CASE("what cannot be seen is not known") {
  CHECK(planted(chain_of(CostKind::memory, 1)).kind == StageSharing::Kind::unknown);
  CHECK(planted(chain_of(CostKind::wait, 2)).kind == StageSharing::Kind::unknown);
  CHECK(planted(chain_of(CostKind::lock, 2)).kind == StageSharing::Kind::unknown);
  SimulatedChain first = chain_of(CostKind::memory, 2);
  first.stages[0].seconds = 0;
  CHECK(planted(first).kind == StageSharing::Kind::unknown);
}
