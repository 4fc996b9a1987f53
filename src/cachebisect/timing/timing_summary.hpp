// Statistics over the batches of a timed run.
#pragma once

#include <optional>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/timing/timing_record.hpp"

namespace cachebisect {

/// The times of one part of a batch, or of whole batches. Seconds per batch.
struct PartSummary {
  double mean = 0;
  double std = 0;  ///< of the sample (n - 1)
  double min = 0;
  double max = 0;
  double p50 = 0;  ///< quantiles by linear interpolation, as numpy's default
  double p95 = 0;
  double p99 = 0;
  double share = 0;                            ///< of the time of all batches
  std::optional<double> samples_per_second{};  ///< if a batch took this part alone
};

struct TimingSummary {
  std::size_t batches = 0;
  double seconds = 0;  ///< of all batches
  std::uint64_t samples = 0;
  double starved_share = 0;  ///< of the batches
  PartSummary total;
  std::vector<PartSummary> parts;  ///< by TimingRecord::parts
};

/// All zero for a run without batches.
[[nodiscard]] CACHEBISECT_INTERNAL_API TimingSummary summarise(const TimedRun& run,
                                                               const std::vector<TimePart>& parts);
/// The summary of one of these parts; null if it was not measured.
[[nodiscard]] CACHEBISECT_INTERNAL_API const PartSummary* find_part(
    const TimingSummary& summary, const std::vector<TimePart>& parts, TimePart part) noexcept;
/// b of "median time per batch = a * size^b", by least squares of the logarithms: 1 if twice the
/// batch takes twice the time. Empty for fewer than two sizes with batches.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<double> size_exponent(
    const TimingRecord& record);

}  // namespace cachebisect
