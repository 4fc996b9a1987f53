// Where a cache of samples may stand in a chain, and what it spares there.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/advice/advice.hpp"

namespace cachebisect {

/// A cache behind the stage of this number (from 1).
struct CachePlace {
  std::size_t after = 0;
  double bytes_per_sample = 0;
  double needed_bytes = 0;    ///< for all samples
  double kept = 0;            ///< share of them that the room holds
  double spared_seconds = 0;  ///< of the workers, per sample, less what serving costs
};

/// Bytes of memory that a cache may take; 0 if what is available is unknown.
[[nodiscard]] CACHEBISECT_INTERNAL_API double memory_for_cache(const Advice& advice) noexcept;

/// Behind the stage, whose output_bytes are known; without what it spares.
[[nodiscard]] CachePlace place_after(const StageReport& stage, const ChainDescription& chain,
                                     double room_bytes);

/// The place that spares most of those behind `named` whose samples are the same in every epoch;
/// empty if there is none, or if `room_bytes` hold next to nothing.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<CachePlace> best_cache_place(
    const Advice& advice, const StageReport& named, double room_bytes, const CacheHit& hit = {});

/// The edit of a job in code with which samples are kept behind the stage of number `after` (from
/// 1): a setting whose value is the first word of a stage's name, or "sample" for all stages. Empty
/// if there is no such setting, or if they cannot be kept there.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<Edit> kept_in_code(const Advice& advice,
                                                                      std::string_view setting,
                                                                      std::size_t after);

}  // namespace cachebisect
