// How exactly the real executor meets what a planted chain is to cost, by what limits it.
#pragma once

#include <string>
#include <vector>

#include "cachebisect/pipeline/registry.hpp"
#include "cachebisect/selftest/draw.hpp"

namespace cachebisect::selftest {

struct ExactnessOptions {
  int rounds = 10;              ///< a block a boundary in each, in random order
  double block_seconds = 0.06;  ///< timed part of a block
};

/// One boundary of one chain. Seconds are per sample.
struct Exactness {
  std::uint64_t seed = 0;
  int boundary = 0;
  int workers = 0;
  bool jitter = false;
  std::string limited_by;  ///< "cores", "copy", "lock", "step", or what the workers spend most on
  double expected = 0;     ///< of the ring in virtual time
  double measured = 0;     ///< median block
  double spread = 0;       ///< half of the blocks' interquartile range over the expected
  [[nodiscard]] double error() const noexcept { return measured / expected - 1; }
};

/// What the law holds to be the slowest server replayed at `boundary`.
std::string limit_at(const SimulatedChain& chain, int boundary);
/// Measures every boundary in real time. Throws what the pipeline throws.
std::vector<Exactness> measure_exactness(const PlantedChain& planted, const Registry& registry,
                                         const ExactnessOptions& options);
/// Errors by limit and workers: median, and of their sizes the 90th percentile and the worst.
std::string exactness_table(const std::vector<Exactness>& rows);

}  // namespace cachebisect::selftest
