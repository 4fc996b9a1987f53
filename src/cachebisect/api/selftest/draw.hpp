// Planted chains drawn by seed: what they cost, what is true of them, and the pipeline file that
// makes the real executor run them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/replay/simulated_chain.hpp"

namespace cachebisect::selftest {

/// Every planted sample carries an int64 label, which the copy pays too.
inline constexpr double kLabelBytes = 8;

enum class Pattern {
  flat,       ///< the step hides everything
  drop,       ///< one stage costs a share of throughput
  two_drops,  ///< two do, one clearly more
  ramp,       ///< many equal stages, none of them above min_drop
};
CACHEBISECT_API const char* to_string(Pattern shape) noexcept;

struct DrawOptions {
  int least_stages = 3;  ///< n, collate and copy included
  int most_stages = 8;
  int cores = 2;
  double least_step_seconds = 1e-3;
  double most_step_seconds = 5e-3;
  double least_drop = 0.25;
  double most_drop = 0.6;
  double flat_share = 0.2;
  double two_drops_share = 0;
  double ramp_share = 0;
  bool jitter = false;  ///< half of the chains get lognormal or heavy-tailed costs
};

/// Drops are shares of throughput, 1 - T(s-1)/T(s).
struct Truth {
  Pattern shape = Pattern::flat;
  std::vector<double> seconds_per_sample;  ///< by boundary 0..n
  std::vector<double> drops;               ///< by stage, 0-based
  double loss = 0;
  int largest = 1;      ///< stage, 1-based
  std::string planted;  ///< "lock", "copy", ...; empty when flat
};

struct PlantedChain {
  std::uint64_t seed = 0;
  SimulatedChain chain;
  Truth truth;
};

/// Draws until the chain's truth is beyond doubt: by the law with one server at least 10% slower
/// than the next where a drop is planted, the largest drop clear of the second. Equal seeds and
/// options give equal chains.
CACHEBISECT_API PlantedChain draw(std::uint64_t seed, const DrawOptions& options);
/// The truth of a chain by a long run of the same ring in virtual time.
CACHEBISECT_API Truth measure_truth(const SimulatedChain& chain);
/// The pipeline file of such a chain, for the emulated device.
CACHEBISECT_API std::string pipeline_json(const PlantedChain& planted);

}  // namespace cachebisect::selftest
