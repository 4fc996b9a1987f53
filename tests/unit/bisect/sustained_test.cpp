#include "cachebisect/bisect/evidence/sustained.hpp"

#include <vector>

#include <doctest/doctest.h>

using namespace cachebisect;

namespace {

/// A run of 32 groups, the second half of which takes `tau` per sample.
BlockResult run_of(double first, double second) {
  BlockResult run;
  run.seconds = 3;
  for (int i = 0; i < 32; ++i) {
    run.group_taus.push_back((i < 16 ? first : second) * (1 + 0.001 * (i % 5)));
  }
  return run;
}

std::vector<double> blocks_of(double tau) {
  std::vector<double> taus;
  for (int i = 0; i < 20; ++i) taus.push_back(tau * (1 + 0.002 * (i % 7)));
  return taus;
}

SustainedChange change_of(const BlockResult& run, double blocks) {
  return sustained_figure(run, blocks_of(blocks), 0.99)->change;
}

}  // namespace

TEST_CASE("a run that falls behind the blocks is not sustained") {
  const auto figure = sustained_figure(run_of(1e-3, 2e-3), blocks_of(1e-3), 0.99);
  REQUIRE(figure.has_value());
  CHECK(figure->change == SustainedChange::slower);
  CHECK(*figure->samples_per_second.value == doctest::Approx(500).epsilon(0.01));
  CHECK(figure->samples_per_second.interval->low <= *figure->samples_per_second.value);
  CHECK(figure->samples_per_second.interval->high >= *figure->samples_per_second.value);
  CHECK(figure->slowest_tau == doctest::Approx(2e-3 * 1.004));
  CHECK(figure->seconds == 3);
}

TEST_CASE("the second half counts, and small differences do not") {
  CHECK(change_of(run_of(5e-3, 1e-3), 1e-3) == SustainedChange::none);
  CHECK(change_of(run_of(1e-3, 1.015e-3), 1e-3) == SustainedChange::none);
  CHECK(change_of(run_of(1e-3, 0.9e-3), 1e-3) == SustainedChange::faster);
}

TEST_CASE("rare stalls in a run that is else faster are no gain") {
  BlockResult run = run_of(0.95e-3, 0.95e-3);
  run.group_taus.back() = 5e-3;
  CHECK(change_of(run, 1e-3) == SustainedChange::none);
}

TEST_CASE("a short run that met no costly sample is no gain where one block in five did") {
  std::vector<double> blocks = blocks_of(1.05e-3);
  for (std::size_t i = 0; i < blocks.size(); i += 5) blocks[i] = 3e-3;
  const BlockResult run = run_of(1e-3, 1e-3);
  CHECK(sustained_figure(run, blocks, 0.99)->change == SustainedChange::none);
  CHECK(change_of(run, 1.05e-3) == SustainedChange::faster);
}

TEST_CASE("too few groups or blocks say nothing") {
  BlockResult run = run_of(1e-3, 2e-3);
  CHECK_FALSE(sustained_figure(run, std::vector<double>{1e-3}, 0.99).has_value());
  run.group_taus.resize(8);
  CHECK_FALSE(sustained_figure(run, blocks_of(1e-3), 0.99).has_value());
}
