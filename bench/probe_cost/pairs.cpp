#include "bench/probe_cost/pairs.hpp"

#include <cmath>
#include <vector>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/random.hpp"

namespace cachebisect::probe_cost {
namespace {

constexpr std::size_t kMinPairs = 10;

struct Pair {
  BlockCost observed;
  BlockCost bare;
};

Pair run_pair(const BlockFunction& run_block, RandomStream& random) {
  Pair pair;
  const bool observed_first = random.below(2) == 0;
  for (const bool observed : {observed_first, !observed_first}) {
    (observed ? pair.observed : pair.bare) = run_block(observed);
  }
  return pair;
}

Share share_of(const std::vector<Pair>& pairs, double BlockCost::*part, double confidence) {
  std::vector<double> ratios;
  ratios.reserve(pairs.size());
  for (const Pair& pair : pairs) ratios.push_back(std::log(pair.observed.*part / pair.bare.*part));
  const auto interval = median_interval(ratios, confidence);
  if (!interval) throw Error(ErrorKind::usage, "too few pairs for an interval at this confidence");
  return {std::expm1(median(ratios)), {std::expm1(interval->low), std::expm1(interval->high)}};
}

double median_of(const std::vector<Pair>& pairs, BlockCost Pair::*block, double BlockCost::*part) {
  std::vector<double> values;
  values.reserve(pairs.size());
  for (const Pair& pair : pairs) values.push_back(pair.*block.*part);
  return median(values);
}

}  // namespace

ProbeCost measure_pairs(const BlockFunction& run_block, const PairOptions& options) {
  RandomStream random({.seed = options.seed});
  std::vector<Pair> pairs;
  const double end = monotonic_seconds() + options.seconds;
  while (monotonic_seconds() < end || pairs.size() < kMinPairs) {
    pairs.push_back(run_pair(run_block, random));
  }
  return {.pairs = pairs.size(),
          .cpu_seconds_per_sample = median_of(pairs, &Pair::bare, &BlockCost::cpu_seconds),
          .observing_seconds_per_sample =
              median_of(pairs, &Pair::observed, &BlockCost::observing_seconds),
          .time = share_of(pairs, &BlockCost::seconds, options.confidence),
          .cpu = share_of(pairs, &BlockCost::cpu_seconds, options.confidence)};
}

}  // namespace cachebisect::probe_cost
