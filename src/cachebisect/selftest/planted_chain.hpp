// A planted chain: what its stages cost, and what is true of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/statistics.hpp"
#include "cachebisect/simulate/simulated_chain.hpp"

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
CACHEBISECT_INTERNAL_API const char* to_string(Pattern shape) noexcept;
/// Throws Error(usage) for a word that names no shape.
CACHEBISECT_INTERNAL_API Pattern pattern_of(const std::string& text);

/// Drops are shares of throughput, 1 - T(s-1)/T(s).
struct Truth {
  Pattern shape = Pattern::flat;
  std::vector<double> seconds_per_sample;  ///< by boundary 0..n
  std::vector<double> drops;               ///< by stage, 0-based
  double loss = 0;
  int largest = 1;      ///< stage, 1-based
  std::string planted;  ///< "lock", "copy", "cpu+wait", ...; empty when nothing is
  /// Cores are too busy for a law to hold to better than a few percent: it can tell which stage is
  /// to blame, but not whether an interval is right.
  bool approximate = false;
  /// Where truth was measured: its own intervals, by stage and of the loss; else empty.
  std::vector<Interval> drop_intervals{};
  std::optional<Interval> loss_interval{};
};

struct PlantedChain {
  std::uint64_t seed = 0;
  SimulatedChain chain;
  Truth truth;

  /// Category of a stage (1-based) as it was planted: read, decode, augment, collate or copy.
  [[nodiscard]] CACHEBISECT_INTERNAL_API Category category(int stage) const;
};

/// The truth of a chain by a long run of the same ring in virtual time. None where a stage makes
/// the chain faster by more than half a percent: nobody can say what such a chain should be blamed
/// for.
CACHEBISECT_INTERNAL_API std::optional<Truth> measure_truth(const SimulatedChain& chain);
/// The truth of the same chain where the planted stages run it in real time: they make good for
/// having waited for a core, so that cores limit only who wants more than all of them.
CACHEBISECT_INTERNAL_API std::optional<Truth> planned_truth(const SimulatedChain& chain);
/// True where the chain leaves a fifth of so many cores free at every boundary.
CACHEBISECT_INTERNAL_API bool leaves_cores_free(const PlantedChain& planted, double cores);
/// The pipeline file of such a chain, for the emulated device. Throws Error(usage) for costs that
/// only a simulation can have: memory, collate, a busy training thread.
CACHEBISECT_INTERNAL_API std::string pipeline_json(const PlantedChain& planted);

}  // namespace cachebisect::selftest
