#include "cachebisect/selftest/draw.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/selftest/chain_law.hpp"
#include "cachebisect/selftest/draw_chain.hpp"

namespace cachebisect::selftest {
namespace {

constexpr double kMinDrop = 0.05;
constexpr double kClear = 1.10;          ///< one server this much slower than the next
constexpr double kMaxSecondDrop = 0.75;  ///< of the largest drop, if only one is planted
constexpr int kMaxTries = 1000;

/// True if the law, which costs nothing, shows that the chain does not have its shape.
bool is_hopeless(const DrawnChain& drawn) {
  const SimulatedChain& chain = drawn.chain;
  std::vector<double> drops;
  const auto tau = [&](int k) { return predicted_seconds_per_sample(chain_law(chain, k)); };
  for (int k = 1; k <= chain.boundaries(); ++k) drops.push_back(1 - tau(k) / tau(k - 1));
  if (drawn.shape == Pattern::flat) return 1 - tau(chain.boundaries()) / tau(0) > kMinDrop;
  if (drawn.shape != Pattern::drop) return false;
  std::sort(drops.rbegin(), drops.rend());
  return drops[1] > 0.9 * drops[0];
}

/// True if the truth of the chain has the shape that was planted.
bool has_its_shape(const PlantedChain& planted, const DrawOptions& options) {
  const Truth& truth = planted.truth;
  auto drops = truth.drops;
  std::sort(drops.rbegin(), drops.rend());
  switch (truth.shape) {
    case Pattern::flat:
      return truth.loss < 0.4 * kMinDrop;
    case Pattern::ramp:
      return drops.front() < 0.9 * kMinDrop && truth.loss > 0.08;
    case Pattern::contention:
      return true;
    case Pattern::two_drops:
      break;
    case Pattern::drop:
      if (drops.size() > 1 && drops[1] > kMaxSecondDrop * drops.front()) return false;
      break;
  }
  const double min_drop = options.drop_classes ? kMinDrop : options.min_drop;
  if (drops.front() < 0.98 * min_drop) return false;
  return options.simulated || law_margin(chain_law(planted.chain, truth.largest)) >= kClear;
}

/// One try; empty if the chain does not become what it should.
std::optional<PlantedChain> try_draw(RandomStream& random, const DrawOptions& options) {
  auto drawn = draw_chain(random, options);
  if (!drawn || is_hopeless(*drawn)) return std::nullopt;
  auto truth = options.simulated ? measure_truth(drawn->chain) : planned_truth(drawn->chain);
  if (!truth) return std::nullopt;
  PlantedChain planted;
  planted.chain = std::move(drawn->chain);
  planted.truth = std::move(*truth);
  planted.truth.shape = drawn->shape;
  planted.truth.planted = std::move(drawn->planted);
  planted.truth.approximate =
      !options.simulated && !leaves_cores_free(planted, planted.chain.cores);
  if (!has_its_shape(planted, options)) return std::nullopt;
  return planted;
}

}  // namespace

DrawOptions corpus(bool simulated, int cores) {
  DrawOptions options;
  options.max_stages = 30;
  options.cores = cores;
  options.max_step_seconds = 10e-3;
  options.drop_classes = true;
  options.flat_share = 0.25;
  options.two_drops_share = 0.1;
  options.ramp_share = 0.05;
  options.jitter = true;
  options.simulated = simulated;
  if (simulated) {
    options.slow_step_share = 0.05;
    options.contention_share = 0.1;
  }
  return options;
}

PlantedChain draw(std::uint64_t seed, const DrawOptions& options) {
  if (options.min_stages < 3 || options.max_stages < options.min_stages) {
    throw Error(ErrorKind::usage, "planted chains have at least 3 stages: read, collate and copy");
  }
  if (options.real_copy && options.min_stages < 4) {
    throw Error(ErrorKind::usage, "planted chains with a real copy have at least 4 stages");
  }
  RandomStream random({.seed = seed, .stage = hash_name("planted chain")});
  for (int i = 0; i < kMaxTries; ++i) {
    if (auto planted = try_draw(random, options)) {
      planted->seed = seed;
      return std::move(*planted);
    }
  }
  throw Error(ErrorKind::usage,
              "no chain fits these options; allow more stages or a wider range of drops");
}

}  // namespace cachebisect::selftest
