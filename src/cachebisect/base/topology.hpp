// The physical cores and memory nodes behind the CPUs that the kernel numbers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// The cores and memory nodes of a set of CPUs. Empty members: the system does not report them.
struct Topology {
  std::optional<int> cores;       ///< physical; the hyper-threads of one count once
  std::optional<int> numa_nodes;  ///< memory nodes that at least one of the CPUs belongs to
};

/// The topology of these CPUs, by /sys/devices/system below `root`. A CPU whose siblings cannot be
/// read counts as a core of its own. Never throws for malformed contents.
CACHEBISECT_INTERNAL_API Topology topology_of(const std::vector<int>& cpus,
                                              const std::string& root = "");

/// The numbers of a list as the kernel writes it ("0,4-6"), ascending; empty for any other text and
/// for numbers of 65536 and more.
CACHEBISECT_INTERNAL_API std::vector<int> parse_cpu_list(std::string_view text);

}  // namespace cachebisect
