// The cost of inline observation: pairs of blocks with and without it, in random order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/probe_cost/blocks.hpp"

#include "cachebisect/base/statistics.hpp"

namespace cachebisect::probe_cost {

struct PairOptions {
  double seconds = 10;  ///< to spend, to within one pair
  double confidence = 0.95;
  std::uint64_t seed = 1;
};

/// Observed over unobserved, minus 1: median of the pairs' ratios and its interval.
struct Share {
  double value = 0;
  Interval interval;
};

struct ProbeCost {
  std::size_t pairs = 0;
  double cpu_seconds_per_sample = 0;        ///< of all threads, without probes, median
  double observing_seconds_per_sample = 0;  ///< as estimated by the loader, median
  Share time;
  Share cpu;
};

/// Runs at least ten pairs. Throws what the pipeline throws, and Error(usage) if there are too few
/// pairs for the confidence.
ProbeCost measure_pairs(const BlockFunction& run_block, const PairOptions& options);

}  // namespace cachebisect::probe_cost
