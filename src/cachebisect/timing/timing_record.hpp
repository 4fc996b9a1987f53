// What `cachebisect time` measured: the seconds of every batch, by part. Plain data.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/estimate.hpp"
#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// The parts of a batch's time, in their order. load: the device, or the thread that trains, waited
/// for the loader. copy: the copy to the device, as far as the device waited for it. step: of a
/// step that does not tell its parts. other: all the rest.
enum class TimePart { load, copy, forward, backward, optimizer, step, other };
inline constexpr std::size_t kTimeParts = 7;
inline constexpr std::array<TimePart, kTimeParts> kAllTimeParts{
    TimePart::load,      TimePart::copy, TimePart::forward, TimePart::backward,
    TimePart::optimizer, TimePart::step, TimePart::other};
/// "load", "copy", ...
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string_view to_string(TimePart part) noexcept;

/// Seconds, from the end of the step before to the end of this batch's step.
struct BatchTimes {
  std::uint64_t batch = 0;  ///< from 0
  std::uint64_t epoch = 0;  ///< from 0
  std::int64_t samples = 0;
  std::array<double, kTimeParts> seconds{};  ///< by TimePart; they sum to total_seconds
  double total_seconds = 0;
  double wait_seconds = 0;  ///< the training thread waited, also while the device was busy
  double copy_seconds = 0;  ///< of the copy itself, also while the device was busy
  bool starved = false;     ///< the batch was not ready when it was asked for

  [[nodiscard]] double& of(TimePart part) { return seconds.at(static_cast<std::size_t>(part)); }
  [[nodiscard]] double of(TimePart part) const {
    return seconds.at(static_cast<std::size_t>(part));
  }
};

/// Why a run ended.
enum class TimingEnd { epochs, max_batches, max_seconds, script, interrupted };
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string_view to_string(TimingEnd end) noexcept;

/// What timing costs, measured in two ways. Empty: not measured.
struct TimingCost {
  /// What timing costs the training thread per batch: the timer's calls alone, repeated without a
  /// loop around.
  std::optional<double> call_seconds{};
  int pairs = 0;     ///< of blocks with and without timing, in turns
  Estimate share{};  ///< by which blocks with timing take longer, at 95%
};

/// Memory after the run, at its peak.
struct TimingMemory {
  double bytes = 0;
  bool of_device = false;  ///< all that is in use on the device; else of this process
};

/// All batches of one batch size.
struct TimedRun {
  std::int64_t batch_size = 0;
  int workers = 0;
  std::vector<BatchTimes> batches{};
  std::uint64_t planned_batches = 0;  ///< of all epochs; 0: unknown
  double first_batch_seconds = 0;     ///< from the start of loading to the first batch
  TimingEnd ended_by = TimingEnd::epochs;
  TimingCost cost{};
  std::optional<TimingMemory> memory{};
};

struct TimingRecord {
  std::string name;       ///< of the pipeline or script
  std::string device;     ///< "CPU", "NVIDIA H200", "emulated"
  std::string step;       ///< what the step computes
  std::string precision;  ///< empty: unknown
  bool generated_data = false;
  bool emulated = false;
  bool of_script = false;       ///< whose loader does not tell whether a batch was ready
  std::vector<TimePart> parts;  ///< those that could be measured, in order
  int epochs = 0;               ///< asked for
  std::string bisect_command;   ///< that finds the stage: "cachebisect --pipeline cifar.json"
  std::string config_json;      ///< the effective pipeline, or the command
  std::string config_text{};    ///< a file that is copied in its place
  std::vector<TimedRun> runs;   ///< one per batch size, at least one
};

}  // namespace cachebisect
