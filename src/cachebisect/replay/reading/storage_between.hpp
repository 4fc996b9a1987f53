// What was asked of servers while samples were made.
#pragma once

#include <optional>

#include "cachebisect/base/export.hpp"
#include "cachebisect/protocol/request_counts.hpp"
#include "cachebisect/protocol/storage_counts.hpp"

namespace cachebisect {

struct MakingTime {
  int workers = 1;     ///< that made samples
  double seconds = 0;  ///< of each
};

/// Between two counts of a source. Empty if no sample was made, or nothing was asked for.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<StorageCounts> storage_between(
    const RequestCounts& before, const RequestCounts& after, const MakingTime& time);

}  // namespace cachebisect
