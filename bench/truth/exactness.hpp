// How exactly the real executor meets the planted costs of a chain, by what limits it.
#pragma once

#include <string>
#include <vector>

#include "cachebisect/pipeline/registry.hpp"
#include "cachebisect/selftest/draw.hpp"

namespace cachebisect::selftest {

struct ExactnessOptions {
  int rounds = 10;              ///< of one block per boundary, in random order
  double block_seconds = 0.06;  ///< timed part of a block
};

/// One boundary of one chain. Seconds are per sample.
struct Exactness {
  std::uint64_t seed = 0;
  int boundary = 0;
  int workers = 0;
  bool jitter = false;
  std::string
      limited_by;  ///< "cores", "copy", "lock", "step", or the kind that takes the workers longest
  double expected = 0;  ///< by the ring in virtual time
  double measured = 0;  ///< median over blocks
  double spread = 0;    ///< half the interquartile range of the blocks over `expected`
  [[nodiscard]] double error() const noexcept { return measured / expected - 1; }
};

/// The slowest server by the law, replayed at `boundary`.
std::string limit_at(const SimulatedChain& chain, int boundary);
/// Measures every boundary in real time. Throws what the pipeline throws.
std::vector<Exactness> measure_exactness(const PlantedChain& planted, const Registry& registry,
                                         const ExactnessOptions& options);
/// A table of errors by limit and workers: median, and the 90th percentile and maximum of their
/// absolute values.
std::string exactness_table(const std::vector<Exactness>& rows);

}  // namespace cachebisect::selftest
