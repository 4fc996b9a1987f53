#include "cachebisect/selftest/planted_chain.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "cachebisect/base/error.hpp"
#include "cachebisect/selftest/chain_law.hpp"
#include "cachebisect/simulate/simulated_ring.hpp"

namespace cachebisect::selftest {
namespace {

/// Rings with workers are followed until they repeat themselves, nearly always long before this
/// many steps. Loading inline repeats in whole periods: constant costs from batch to batch,
/// jittered ones after 64 samples.
constexpr int kMaxCycleSteps = 1024;
constexpr int kConstantSteps = 64;
constexpr int kJitteredSteps = 256;
constexpr double kNegligible = 1e-5;   ///< share of time
constexpr double kMaxSpeedup = 0.005;  ///< of a chain by one of its stages
constexpr double kMaxBusy = 0.8;       ///< share of the cores' time for which the law is exact

int steps_of(const SimulatedRing& ring, int boundary) {
  const SimulatedChain& chain = ring.chain();
  if (chain.workers > 0 && boundary < chain.collate_boundary()) return kMaxCycleSteps;
  return ring.constant() ? kConstantSteps : kJitteredSteps;
}

/// False if the stage before this boundary makes the chain faster.
bool add_boundary(Truth& truth, double tau) {
  auto& taus = truth.seconds_per_sample;
  if (!taus.empty()) truth.drops.push_back(1 - tau / taus.back());
  taus.push_back(tau);
  return truth.drops.empty() || truth.drops.back() >= -kMaxSpeedup;
}

/// `seconds_per_sample(k)`: of the chain replayed at boundary k.
std::optional<Truth> truth_of(const SimulatedChain& chain,
                              const std::function<double(int)>& seconds_per_sample) {
  Truth truth;
  const double ceiling = seconds_per_sample(chain.boundaries());
  const auto& taus = truth.seconds_per_sample;
  for (int k = 0; k < chain.boundaries(); ++k) {
    // Once the step is the limit, less live work changes nothing.
    const bool at_ceiling = !taus.empty() && taus.back() < ceiling * (1 + kNegligible);
    if (!add_boundary(truth, at_ceiling ? ceiling : seconds_per_sample(k))) return std::nullopt;
  }
  if (!add_boundary(truth, ceiling)) return std::nullopt;
  truth.loss = 1 - truth.seconds_per_sample.back() / truth.seconds_per_sample.front();
  truth.largest = largest_stage(truth.seconds_per_sample);
  return truth;
}

/// Seconds per sample for which `cores` are busy with the chain replayed at `boundary`.
double cpu_seconds(const SimulatedChain& chain, int boundary, double cores) {
  return chain_law(chain, boundary).cpu_seconds / std::max(cores, 1e-9);
}

}  // namespace

int largest_stage(const std::vector<double>& seconds_per_sample) {
  constexpr double kDropThatCounts = 0.05;
  const auto cost = [&](std::size_t s) {
    return seconds_per_sample[s - 1] - seconds_per_sample[s];
  };
  const auto drop = [&](std::size_t s) { return cost(s) / seconds_per_sample[s - 1]; };
  std::size_t largest = 1;
  for (std::size_t s = 2; s < seconds_per_sample.size(); ++s) {
    const bool both = drop(s) >= kDropThatCounts && drop(largest) >= kDropThatCounts;
    if (both ? cost(s) > cost(largest) : drop(s) > drop(largest)) largest = s;
  }
  return static_cast<int>(largest);
}

const char* to_string(Pattern shape) noexcept {
  switch (shape) {
    case Pattern::flat:
      return "flat";
    case Pattern::drop:
      return "drop";
    case Pattern::two_drops:
      return "two drops";
    case Pattern::ramp:
      return "ramp";
    case Pattern::contention:
      return "contention";
  }
  return "unknown";
}

Pattern pattern_of(const std::string& text) {
  for (const Pattern shape :
       {Pattern::flat, Pattern::drop, Pattern::two_drops, Pattern::ramp, Pattern::contention}) {
    if (text == to_string(shape)) return shape;
  }
  throw Error(ErrorKind::usage, "'" + text + "' is not a shape of a planted chain");
}

Category PlantedChain::category(int stage) const {
  if (stage == chain.boundaries()) return Category::copy;
  if (stage == chain.collate_boundary()) return Category::collate;
  return chain.stages.at(static_cast<std::size_t>(stage) - 1).category;
}

std::optional<Truth> measure_truth(const SimulatedChain& chain) {
  const SimulatedRing ring(chain);
  return truth_of(chain, [&](int k) { return ring.seconds_per_sample(k, steps_of(ring, k)); });
}

std::optional<Truth> planned_truth(const SimulatedChain& chain) {
  SimulatedChain alone = chain;
  alone.cores = chain.workers + 1;
  const SimulatedRing ring(alone);
  return truth_of(chain, [&](int k) {
    return std::max(ring.seconds_per_sample(k, steps_of(ring, k)),
                    cpu_seconds(chain, k, chain.cores));
  });
}

bool leaves_cores_free(const PlantedChain& planted, double cores) {
  const auto& taus = planted.truth.seconds_per_sample;
  for (int k = 0; k < planted.chain.boundaries(); ++k) {
    const double busy = cpu_seconds(planted.chain, k, cores);
    if (busy > kMaxBusy * taus.at(static_cast<std::size_t>(k))) return false;
  }
  return true;
}

}  // namespace cachebisect::selftest
