// What inline observation costs: pairs of live blocks with and without it, in random order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cachebisect/base/statistics.hpp"
#include "cachebisect/replay/replayer.hpp"

namespace cachebisect::probe_cost {

struct PairOptions {
  double seconds = 10;  ///< to spend on one case, the longest pair more or less
  double confidence = 0.95;
  std::uint64_t seed = 1;
};

/// Observed over unobserved minus 1, centre and interval of the pairs' log ratios.
struct Share {
  double value = 0;
  Interval interval;
};

struct ProbeCost {
  std::size_t pairs = 0;
  double seconds_per_sample = 0;      ///< without probes, median
  double cpu_seconds_per_sample = 0;  ///< of all threads, without probes, median
  Share time;
  Share cpu;
};

/// Blocks as long as the bisector's own. Throws what the pipeline throws; Error(usage) where the
/// seconds hold too few pairs for an interval.
ProbeCost measure_probe_cost(Replayer& replayer, const PairOptions& options);

}  // namespace cachebisect::probe_cost
