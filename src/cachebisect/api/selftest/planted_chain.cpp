#include "cachebisect/api/selftest/planted_chain.hpp"

#include <algorithm>
#include <array>

#include "cachebisect/base/error.hpp"
#include "cachebisect/replay/simulated_ring.hpp"

namespace cachebisect::selftest {
namespace {

/// Long enough for a fifth of a percent; constant costs repeat from batch to batch.
constexpr int kConstantSteps = 64;
constexpr int kJitteredSteps = 1024;

}  // namespace

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
  throw Error(ErrorKind::usage, "'" + text + "' is no shape of a planted chain");
}

std::string PlantedChain::category(int stage) const {
  if (stage == chain.boundaries()) return "copy";
  if (stage == chain.collate_boundary()) return "collate";
  return chain.stages.at(static_cast<std::size_t>(stage) - 1).category;
}

Truth measure_truth(const SimulatedChain& chain) {
  const SimulatedRing ring(chain);
  const bool repeats = ring.constant() && !ring.crowded();
  Truth truth;
  for (int k = 0; k <= chain.boundaries(); ++k) {
    truth.seconds_per_sample.push_back(
        ring.seconds_per_sample(k, repeats ? kConstantSteps : kJitteredSteps));
  }
  for (std::size_t s = 1; s < truth.seconds_per_sample.size(); ++s) {
    truth.drops.push_back(1 - truth.seconds_per_sample[s] / truth.seconds_per_sample[s - 1]);
  }
  truth.loss = 1 - truth.seconds_per_sample.back() / truth.seconds_per_sample.front();
  truth.largest = 1 + static_cast<int>(std::max_element(truth.drops.begin(), truth.drops.end()) -
                                       truth.drops.begin());
  return truth;
}

}  // namespace cachebisect::selftest
