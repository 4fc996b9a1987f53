// A planted chain: what its stages cost, and what is true of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/replay/simulated_chain.hpp"

namespace cachebisect::selftest {

/// Every planted sample carries an int64 label, which the copy pays too.
inline constexpr double kLabelBytes = 8;

enum class Pattern {
  flat,        ///< the step hides everything
  drop,        ///< one stage costs a share of throughput
  two_drops,   ///< two do
  ramp,        ///< many equal stages, none of them above min_drop
  contention,  ///< the training step computes on the cores that the workers want
};
CACHEBISECT_API const char* to_string(Pattern shape) noexcept;
/// Throws Error(usage) for a word that names no shape.
CACHEBISECT_API Pattern pattern_of(const std::string& text);

/// Drops are shares of throughput, 1 - T(s-1)/T(s).
struct Truth {
  Pattern shape = Pattern::flat;
  std::vector<double> seconds_per_sample;  ///< by boundary 0..n
  std::vector<double> drops;               ///< by stage, 0-based
  double loss = 0;
  int largest = 1;      ///< stage, 1-based
  std::string planted;  ///< "lock", "copy", "cpu+wait", ...; empty when nothing is
};

struct PlantedChain {
  std::uint64_t seed = 0;
  SimulatedChain chain;
  Truth truth;

  /// Category of a stage (1-based) as it was planted: read, decode, augment, collate or copy.
  [[nodiscard]] CACHEBISECT_API std::string category(int stage) const;
};

/// The truth of a chain by a long run of the same ring in virtual time. None where a stage makes
/// the chain faster by more than half a percent: nobody can say what such a chain should be blamed
/// for.
CACHEBISECT_API std::optional<Truth> measure_truth(const SimulatedChain& chain);
/// The pipeline file of such a chain, for the emulated device. Throws Error(usage) for costs that
/// only a simulation can have: memory, collate, a busy training thread.
CACHEBISECT_API std::string pipeline_json(const PlantedChain& planted);

}  // namespace cachebisect::selftest
