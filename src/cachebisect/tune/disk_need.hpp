// Whether a disk can give samples as fast as a job needs them to gain by it.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/doctor/storage_probe.hpp"

namespace cachebisect::tune {

/// Samples that are read from a disk, one by one.
struct DiskNeed {
  double bytes_per_sample = 0;
  double samples_per_second = 0;  ///< below which nothing is gained
};

/// Why a disk that was measured cannot give what is needed; empty if it can, or if its reads were
/// not measured.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string why_too_slow(const StorageFacts& disk,
                                                                const DiskNeed& need);

}  // namespace cachebisect::tune
