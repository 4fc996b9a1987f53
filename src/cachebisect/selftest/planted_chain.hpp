// A planted chain: the costs of its stages, and the true drops that follow from them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/statistics.hpp"
#include "cachebisect/simulate/simulated_chain.hpp"

namespace cachebisect::selftest {

/// Bytes of the int64 label that every planted sample carries, and the copy pays for.
inline constexpr double kLabelBytes = 8;

enum class Pattern {
  flat,        ///< no loss: the step is the slowest part
  drop,        ///< one stage lowers throughput
  two_drops,   ///< two stages do
  ramp,        ///< many equal stages, none of them above min_drop
  contention,  ///< the training step competes with the workers for cores
};
CACHEBISECT_INTERNAL_API const char* to_string(Pattern shape) noexcept;
/// Throws Error(usage) for any other word.
CACHEBISECT_INTERNAL_API Pattern pattern_of(const std::string& text);

/// Drops are shares of throughput, 1 - T(s-1)/T(s).
struct Truth {
  Pattern shape = Pattern::flat;
  std::vector<double> seconds_per_sample;  ///< by boundary 0..n
  std::vector<double> drops;               ///< by stage, 0-based
  double loss = 0;
  int largest = 1;      ///< stage, 1-based: see largest_stage()
  std::string planted;  ///< "lock", "copy", "cpu+wait", ...; empty if nothing is
  /// The cores are so busy that the law holds only to a few percent: enough to tell which stage is
  /// to blame, not to tell whether an interval is right.
  bool approximate = false;
  /// Intervals of a truth that was measured, by stage and of the loss; otherwise empty.
  std::vector<Interval> drop_intervals{};
  std::optional<Interval> loss_interval{};
};

/// The stage (1-based) with the most seconds per sample among those that drop throughput by 5% or
/// more; if there is none, the one with the largest drop. `seconds_per_sample` by boundary.
CACHEBISECT_INTERNAL_API int largest_stage(const std::vector<double>& seconds_per_sample);

struct PlantedChain {
  std::uint64_t seed = 0;
  SimulatedChain chain;
  Truth truth;

  /// Category of a stage (1-based) as it was planted: read, decode, augment, collate or copy.
  [[nodiscard]] CACHEBISECT_INTERNAL_API Category category(int stage) const;
};

/// The truth of a chain, from a long run of its ring in virtual time. Empty if a stage makes the
/// chain faster by more than half a percent: such a chain has no stage to blame.
CACHEBISECT_INTERNAL_API std::optional<Truth> measure_truth(const SimulatedChain& chain);
/// The truth of the same chain in real time. Planted stages make up for time in which they waited
/// for a core, so that cores are a limit only when all of them are busy.
CACHEBISECT_INTERNAL_API std::optional<Truth> planned_truth(const SimulatedChain& chain);
/// True if the chain leaves a fifth of `cores` free at every boundary.
CACHEBISECT_INTERNAL_API bool leaves_cores_free(const PlantedChain& planted, double cores);
/// The pipeline file of such a chain, for the emulated device or another that takes planted work.
/// Throws Error(usage) for costs
/// that only a simulation can have: memory, collate, a busy training thread.
CACHEBISECT_INTERNAL_API std::string pipeline_json(const PlantedChain& planted,
                                                   const std::string& device = "emulated");

}  // namespace cachebisect::selftest
