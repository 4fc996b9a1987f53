// What the machine offers this process: cores by affinity and quota, memory within the cgroup, the
// processor and its cache.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/machine_reading.hpp"

namespace cachebisect {

/// Memory that this process can have: the minimum of the system's and the cgroup's. Bytes.
struct AvailableMemory {
  double available_bytes = 0;  ///< without swapping, at the cost of the page cache; 0: unknown
  double spare_bytes = 0;      ///< at the cost of at most a fifth of the page cache
};

struct MachineInfo {
  std::string cpu;         ///< model name; "unknown" if the system does not report it
  int cores = 1;           ///< online
  double usable_cpus = 1;  ///< minimum of affinity and cgroup quotas (v1, v2); above 0
  /// The same of physical cores: hyper-threads do not count. Empty if the system does not report
  /// them.
  std::optional<double> usable_cores;
  std::optional<int> numa_nodes;      ///< memory nodes of the CPUs that this process may run on
  double memory_bytes = 0;            ///< physical, or the cgroup's limit if lower
  double memory_available_bytes = 0;  ///< see AvailableMemory
  std::optional<double> llc_bytes;    ///< last-level cache of core 0
  std::string os;                     ///< "Debian GNU/Linux 12 (bookworm), Linux 6.1.0"
  std::optional<bool> virtualized;    ///< empty if the system does not report it
};

/// Reads /proc, /sys and /etc below `root`, and the affinity from the kernel. What is missing keeps
/// its default. Never throws for malformed contents.
CACHEBISECT_INTERNAL_API MachineInfo probe_machine(const std::string& root = "");

/// `usable_cores`, or `usable_cpus` if the system does not report the cores.
CACHEBISECT_INTERNAL_API double physical_cores(const MachineInfo& machine) noexcept;

/// How many threads `cpus` serves in full; at least one. A recording may hold any number.
CACHEBISECT_INTERNAL_API int whole_cpus(double cpus) noexcept;

/// As in probe_machine(), and fast.
CACHEBISECT_INTERNAL_API AvailableMemory available_memory(const std::string& root = "");

/// Numbers of the CPUs that this process may run on (affinity and cpuset), in order; empty if the
/// kernel does not report them.
CACHEBISECT_INTERNAL_API std::vector<int> allowed_cpus();

/// From /proc/stat below `root`: of `cpus`, or of all CPUs if `cpus` is empty or none of them is
/// listed. Empty if the file cannot be read.
CACHEBISECT_INTERNAL_API std::optional<CpuTimes> read_cpu_times(const std::string& root = "",
                                                                const std::vector<int>& cpus = {});
/// Share of CPU time stolen between two readings; empty if no tick passed.
CACHEBISECT_INTERNAL_API std::optional<double> steal_share(const CpuTimes& before,
                                                           const CpuTimes& after);

}  // namespace cachebisect
