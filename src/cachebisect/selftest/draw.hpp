// Planted chains, drawn at random by seed.
#pragma once

#include <cstdint>

#include "cachebisect/base/export.hpp"
#include "cachebisect/selftest/planted_chain.hpp"

namespace cachebisect::selftest {

/// Shares are probabilities; the shapes' shares add up to at most 1, and the rest are chains with
/// one drop.
struct DrawOptions {
  int min_stages = 3;  ///< with collate and copy
  int max_stages = 8;
  int cores = 2;
  double min_step_seconds = 1e-3;
  double max_step_seconds = 5e-3;
  double slow_step_share = 0;       ///< of steps between max_step_seconds ...
  double slowest_step_seconds = 2;  ///< ... and this
  double min_drop = 0.25;
  double max_drop = 0.6;
  bool drop_classes = false;  ///< drops of about 5, 10, 20 or 50% instead
  double flat_share = 0.2;
  double two_drops_share = 0;
  double ramp_share = 0;
  double contention_share = 0;    ///< simulation only
  bool jitter = false;            ///< half of the chains get lognormal or heavy-tailed costs
  double batch_loader_share = 0;  ///< of the chains with two workers or more: a batch per worker
  /// The copy is that of a real device: nothing is planted in it, it takes a few
  /// microseconds, and chains have 4 stages or more.
  bool real_copy = false;
  /// Also costs that only a simulation meets exactly: memory bandwidth, collate, a busy trainer.
  bool simulated = false;
};

/// The corpus of the published accuracy: 3 to 30 stages, every shape, kind and category. Unless
/// simulated, only costs that the executor meets exactly on `cores` cores.
CACHEBISECT_INTERNAL_API DrawOptions corpus(bool simulated, int cores);

/// Draws until a chain has the shape planted in it. In real time one server is also at least 10%
/// slower than the next at the boundary after the planted stage, so that truth does not depend on
/// the last microsecond. Equal seeds and options give equal chains. Throws Error(usage) if no chain
/// fits the options.
CACHEBISECT_INTERNAL_API PlantedChain draw(std::uint64_t seed, const DrawOptions& options);

}  // namespace cachebisect::selftest
