// The limits that control groups (v1 and v2) put on this process, along the whole path to the root.
#pragma once

#include <limits>
#include <optional>
#include <string>

namespace cachebisect {

/// CPUs that the quotas allow, with fractions (1.5); infinity without a quota.
double quota_cpus(const std::string& root);

/// Share of the page cache that may be taken from the user's data.
inline constexpr double kPageCacheShare = 0.2;

struct CgroupMemory {
  double limit = std::numeric_limits<double>::infinity();      ///< bytes
  double available = std::numeric_limits<double>::infinity();  ///< bytes, page cache that can
                                                               ///< be dropped included
  double spare = std::numeric_limits<double>::infinity();  ///< bytes, with kPageCacheShare of it
};
CgroupMemory cgroup_memory(const std::string& root);

/// Quota periods since the group was created, and those in which the quota ran out.
struct QuotaPeriods {
  double all = 0;
  double throttled = 0;
  double seconds = 0;                                     ///< of the longest period
  double cpus = std::numeric_limits<double>::infinity();  ///< of the lowest quota
};
/// Counts are summed over the groups with a quota; empty if there is none.
std::optional<QuotaPeriods> quota_periods(const std::string& root);

}  // namespace cachebisect
