// Planted chains drawn by seed.
#pragma once

#include <cstdint>

#include "cachebisect/base/export.hpp"
#include "cachebisect/selftest/planted_chain.hpp"

namespace cachebisect::selftest {

/// Shares are probabilities; what the shares of shapes leave are chains with one drop.
struct DrawOptions {
  int least_stages = 3;  ///< n, collate and copy included
  int most_stages = 8;
  int cores = 2;
  double least_step_seconds = 1e-3;
  double most_step_seconds = 5e-3;
  double slow_step_share = 0;       ///< with steps from most_step_seconds up to ...
  double slowest_step_seconds = 2;  ///< ... this
  double least_drop = 0.25;
  double most_drop = 0.6;
  bool drop_classes = false;  ///< planted drops are about 5, 10, 20 or 50% instead
  double flat_share = 0.2;
  double two_drops_share = 0;
  double ramp_share = 0;
  double contention_share = 0;  ///< simulation only
  bool jitter = false;          ///< half of the chains get lognormal or heavy-tailed costs
  /// Costs that only a simulation has exactly too: memory bandwidth, collate, a busy trainer.
  bool simulated = false;
};

/// The corpus of the published accuracy: 3 to 30 stages, every shape, kind and category. Simulated,
/// or such as this machine's executor can run exactly on `cores`.
CACHEBISECT_INTERNAL_API DrawOptions corpus(bool simulated, int cores);

/// Draws until the chain has the shape it should have. In real time one server is also at least 10%
/// slower than the next at the boundary after the planted stage, so that truth does not hang on the
/// last microsecond. Equal seeds and options give equal chains. Throws Error(usage) when no chain
/// fits the options.
CACHEBISECT_INTERNAL_API PlantedChain draw(std::uint64_t seed, const DrawOptions& options);

}  // namespace cachebisect::selftest
