// The seconds of each batch of a training loop, by part. Plain data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

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

/// Why no more batches were observed.
enum class LoopEnd { epochs, max_batches, max_seconds, script, interrupted };
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string_view to_string(LoopEnd end) noexcept;

}  // namespace cachebisect
