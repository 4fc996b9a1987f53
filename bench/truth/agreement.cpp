// Prints how often three answers to "which stage costs most?" agree on planted chains in virtual
// time: the largest drop in the order of the chain, the most seconds per sample, and the largest
// gain if that stage alone were free.
#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <vector>

#include "bench/support/program.hpp"

#include "cachebisect/base/statistics.hpp"
#include "cachebisect/bisect/evidence/confidence_sequence.hpp"
#include "cachebisect/selftest/draw.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"

namespace {

using namespace cachebisect;
using namespace cachebisect::selftest;

constexpr double kMinDrop = 0.05;
constexpr int kWarmupSteps = 64;
constexpr int kSteps = 256;

/// A rule, and what its choices gain.
struct Rule {
  const char* name;
  int same_as_payoff = 0;
  std::vector<double> missed{};  ///< log throughput, against the largest gain
};

int largest(const std::vector<double>& values) {
  return static_cast<int>(std::max_element(values.begin(), values.end()) - values.begin()) + 1;
}

/// Log throughput that each stage gains if it alone is free.
std::vector<double> gains(const PlantedChain& planted) {
  SimulatedReplayer replayer(planted.chain, {.seed = planted.seed});
  (void)replayer.prepare({}, {});
  const auto rate = [&](const Arm& arm) {
    BlockRequest request{.arm = arm, .steps = kSteps};
    request.warmup_steps = kWarmupSteps;
    const BlockResult block = replayer.run(request, {});
    return static_cast<double>(block.samples) / block.seconds;
  };
  const double live = rate({.boundary = 0});
  std::vector<double> result;
  for (int s = 1; s <= planted.chain.boundaries(); ++s) {
    const Arm arm{.kind = ArmKind::bypass, .stage = s};
    result.push_back(replayer.supports(arm) ? std::log(rate(arm) / live) : 0);
  }
  return result;
}

int run(const bench::ChainRange& range) {
  constexpr int kCores = 2;
  const DrawOptions options = corpus(true, kCores);
  std::array<Rule, 2> rules{{{.name = "order"}, {.name = "seconds"}}};
  int starved = 0;
  int both = 0;
  for (int i = 0; i < range.chains; ++i) {
    const PlantedChain planted = draw(range.seed + static_cast<std::uint64_t>(i), options);
    const std::vector<double>& drops = planted.truth.drops;
    if (*std::max_element(drops.begin(), drops.end()) < kMinDrop) continue;
    ++starved;
    const std::array<int, 2> named{largest(drops), planted.truth.largest};
    both += named[0] == named[1] ? 1 : 0;
    const std::vector<double> gain = gains(planted);
    const double best = *std::max_element(gain.begin(), gain.end());
    for (std::size_t r = 0; r < rules.size(); ++r) {
      const double missed = best - gain.at(static_cast<std::size_t>(named.at(r)) - 1);
      rules.at(r).missed.push_back(missed);
      if (missed < kMinHalfWidth) ++rules.at(r).same_as_payoff;
    }
  }
  const auto share = [&](int count) { return 100.0 * count / std::max(1, starved); };
  std::cout << "chains with a drop of 5% or more: " << starved << " of " << range.chains
            << "\norder and seconds name the same stage: " << share(both) << "%\n";
  for (const Rule& rule : rules) {
    std::cout << rule.name << " names what gains most: " << share(rule.same_as_payoff)
              << "%; gain missed otherwise: at the 99th percentile "
              << 100 * std::expm1(quantile(rule.missed, 0.99)) << "%, at most "
              << 100 * std::expm1(quantile(rule.missed, 1)) << "% of the throughput\n";
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  bench::ChainRange range{.chains = 4000};
  CLI::App app{"Planted chains: do order, seconds and payoff name the same stage?"};
  bench::add_chain_range(app, range);
  return bench::run_program("agreement", app, argc, argv, [&] { return run(range); });
}
