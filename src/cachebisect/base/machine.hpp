// What the machine offers this process: cores by affinity and quota, memory of the cgroup, the
// processor and its cache.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

struct MachineInfo {
  std::string cpu;          ///< model name; "unknown" where the system does not say
  int cores = 1;            ///< online
  double usable_cpus = 1;   ///< the least of affinity and cgroup quotas (v1 or v2); above 0
  double memory_bytes = 0;  ///< physical, or the cgroup's limit where that is less
  double memory_available_bytes =
      0;                            ///< to this process: the system's and the cgroup's, the lesser
  std::optional<double> llc_bytes;  ///< last-level cache of core 0, as the system reports it
  std::string os;                   ///< "Debian GNU/Linux 12 (bookworm), Linux 6.1.0"
  std::optional<bool> virtualized;  ///< none where the system does not say
};

/// Reads /proc, /sys and /etc below `root`, affinity from the kernel. What is missing keeps its
/// default. Never throws for odd contents.
CACHEBISECT_API MachineInfo probe_machine(const std::string& root = "");

/// Numbers of the CPUs that this process may run on (affinity and cpuset), in order; empty where
/// the kernel does not say.
CACHEBISECT_API std::vector<int> allowed_cpus();

/// Time that CPUs spent, in clock ticks since boot.
struct CpuTimes {
  std::uint64_t total = 0;
  std::uint64_t steal = 0;  ///< taken by the hypervisor for others
  std::uint64_t busy = 0;   ///< running something here
  int cpus = 0;             ///< that these are the times of; 0: not known
};

/// The lines of /proc/stat below `root`: of `cpus`, or of all when that is empty or has no lines of
/// its own; none where it cannot be read.
CACHEBISECT_API std::optional<CpuTimes> read_cpu_times(const std::string& root = "",
                                                       const std::vector<int>& cpus = {});
/// Share of CPU time stolen between two readings; none where no tick passed.
CACHEBISECT_API std::optional<double> steal_share(const CpuTimes& before, const CpuTimes& after);

}  // namespace cachebisect
