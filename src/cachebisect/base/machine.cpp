#include "cachebisect/base/machine.hpp"

#include <algorithm>
#include <fstream>
#include <locale>
#include <sstream>
#include <string_view>

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cachebisect/base/cgroup.hpp"
#include "cachebisect/base/proc_files.hpp"
#include "cachebisect/base/topology.hpp"

namespace cachebisect {
namespace {

/// The kernel grants at least 1 ms in a period of 1 s.
constexpr double kMinCpus = 0.001;

std::optional<double> kibibytes(const std::string& root, std::string_view key) {
  const auto value = value_of(root + "/proc/meminfo", key, ':');
  const auto number = value ? leading_number(*value) : std::nullopt;
  if (!number || *number < 0) return std::nullopt;
  return *number * 1024;
}

AvailableMemory system_memory(const std::string& root) {
  const double all = kibibytes(root, "MemTotal").value_or(0);
  const double available = kibibytes(root, "MemAvailable").value_or(all);
  const double free = std::min(kibibytes(root, "MemFree").value_or(0), available);
  return {available, free + kPageCacheShare * (available - free)};
}

std::optional<double> last_level_cache(const std::string& root) {
  std::optional<double> largest;
  for (int index = 0; index < 8; ++index) {
    const auto line = first_line(root + "/sys/devices/system/cpu/cpu0/cache/index" +
                                 std::to_string(index) + "/size");
    if (!line) continue;
    auto bytes = leading_number(*line);
    if (!bytes || *bytes <= 0) continue;
    if (line->ends_with('K')) *bytes *= 1024;
    if (line->ends_with('M')) *bytes *= 1024 * 1024;
    largest = std::max(largest.value_or(0), *bytes);
  }
  return largest;
}

std::optional<bool> hypervisor_flag(const std::string& root) {
  if (first_line(root + "/sys/hypervisor/type")) return true;
  const auto flags = value_of(root + "/proc/cpuinfo", "flags", ':');
  if (!flags) return std::nullopt;
  return (" " + *flags + " ").find(" hypervisor ") != std::string::npos;
}

std::string cpu_model(const std::string& root) {
  const std::string file = root + "/proc/cpuinfo";
  if (const auto name = value_of(file, "model name", ':'); name && !name->empty()) return *name;
  // Arm kernels report numbers instead of a name.
  const auto implementer = value_of(file, "CPU implementer", ':');
  const auto part = value_of(file, "CPU part", ':');
  if (implementer && part) return "Arm implementer " + *implementer + ", part " + *part;
  return "unknown";
}

std::string operating_system(const std::string& root) {
  std::string name = value_of(root + "/etc/os-release", "PRETTY_NAME", '=').value_or("");
  utsname kernel{};
  if (uname(&kernel) == 0) {
    if (!name.empty()) name += ", ";
    name += std::string(kernel.sysname) + " " + kernel.release;
  }
  return name.empty() ? "unknown" : name;
}

// user nice system idle iowait irq softirq steal; guest times are part of user and nice.
void add_times(const std::string& fields, CpuTimes& times) {
  constexpr int kIdle = 3;
  constexpr int kIoWait = 4;
  constexpr int kSteal = 7;
  std::istringstream numbers(fields);
  numbers.imbue(std::locale::classic());
  std::uint64_t ticks = 0;
  for (int field = 0; field <= kSteal && numbers >> ticks; ++field) {
    times.total += ticks;
    if (field == kSteal) {
      times.steal += ticks;
    } else if (field != kIdle && field != kIoWait) {
      times.busy += ticks;
    }
  }
}

void probe_cpus(const std::string& root, MachineInfo& info) {
  const std::vector<int> allowed = allowed_cpus();
  const double quota = quota_cpus(root);
  const auto within_quota = [&](double cpus) { return std::max(kMinCpus, std::min(cpus, quota)); };
  info.usable_cpus =
      within_quota(allowed.empty() ? info.cores : static_cast<double>(allowed.size()));
  const Topology topology = topology_of(allowed, root);
  if (topology.cores) info.usable_cores = within_quota(*topology.cores);
  info.numa_nodes = topology.numa_nodes;
}

}  // namespace

std::vector<int> allowed_cpus() {
  // The kernel refuses a mask that is too small for the machine.
  for (std::size_t sets = 1; sets <= 64; sets *= 2) {
    std::vector<cpu_set_t> set(sets);
    const std::size_t bytes = sets * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, set.data()) != 0) continue;
    std::vector<int> cpus;
    for (std::size_t cpu = 0; cpu < 8 * bytes; ++cpu) {
      if (CPU_ISSET_S(cpu, bytes, set.data())) cpus.push_back(static_cast<int>(cpu));
    }
    return cpus;
  }
  return {};
}

AvailableMemory available_memory(const std::string& root) {
  const AvailableMemory system = system_memory(root);
  const CgroupMemory group = cgroup_memory(root);
  return {std::min(system.available_bytes, group.available),
          std::min(system.spare_bytes, group.spare)};
}

MachineInfo probe_machine(const std::string& root) {
  MachineInfo info;
  info.cpu = cpu_model(root);
  info.cores = std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  probe_cpus(root, info);
  const CgroupMemory group = cgroup_memory(root);
  info.memory_bytes = std::min(kibibytes(root, "MemTotal").value_or(0), group.limit);
  info.memory_available_bytes = std::min(system_memory(root).available_bytes, group.available);
  info.llc_bytes = last_level_cache(root);
  info.os = operating_system(root);
  info.virtualized = hypervisor_flag(root);
  return info;
}

double physical_cores(const MachineInfo& machine) noexcept {
  return machine.usable_cores.value_or(machine.usable_cpus);
}

int whole_cpus(double cpus) noexcept {
  constexpr double kMax = 1 << 20;
  return cpus >= 1 ? static_cast<int>(std::min(cpus, kMax)) : 1;
}

std::optional<CpuTimes> read_cpu_times(const std::string& root, const std::vector<int>& cpus) {
  std::ifstream file(root + "/proc/stat");
  std::string line;
  if (!std::getline(file, line) || !line.starts_with("cpu ")) return std::nullopt;
  CpuTimes all;
  add_times(line.substr(4), all);
  CpuTimes chosen;
  while (std::getline(file, line) && line.starts_with("cpu")) {
    const auto number = leading_number(std::string_view(line).substr(3));
    const auto space = line.find(' ');
    if (!number || space == std::string::npos) continue;
    ++all.cpus;
    if (!std::binary_search(cpus.begin(), cpus.end(), static_cast<int>(*number))) continue;
    ++chosen.cpus;
    add_times(line.substr(space), chosen);
  }
  return chosen.cpus > 0 ? chosen : all;
}

std::optional<double> steal_share(const CpuTimes& before, const CpuTimes& after) {
  if (after.total <= before.total || after.steal < before.steal) return std::nullopt;
  return static_cast<double>(after.steal - before.steal) /
         static_cast<double>(after.total - before.total);
}

}  // namespace cachebisect
