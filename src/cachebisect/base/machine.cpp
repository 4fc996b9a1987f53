#include "cachebisect/base/machine.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <sstream>
#include <string_view>
#include <vector>

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace cachebisect {
namespace {

std::optional<std::string> first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line)) return std::nullopt;
  return line;
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end == text.data()) return std::nullopt;
  return value;
}

std::optional<double> number_in(const std::string& path) {
  const auto line = first_line(path);
  return line ? parse_number(*line) : std::nullopt;
}

std::string trim(const std::string& text) {
  const auto from = text.find_first_not_of(" \t\"");
  if (from == std::string::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t\"") - from + 1);
}

/// The value after `separator` in the first line of `path` that begins with `key`.
std::optional<std::string> value_of(const std::string& path, std::string_view key, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const auto at = line.find(separator);
    if (at != std::string::npos) return trim(line.substr(at + 1));
  }
  return std::nullopt;
}

/// The folders of this process's cgroup and of its parents, for a v1 controller or, with an empty
/// name, for v2. Limits hold along the whole path.
std::vector<std::string> cgroup_folders(const std::string& root, const std::string& controller) {
  const std::string mount = root + "/sys/fs/cgroup" + (controller.empty() ? "" : "/" + controller);
  std::vector<std::string> folders{mount};
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool match = controller.empty() ? names == ",,"
                                          : names.find("," + controller + ",") != std::string::npos;
    if (!match) continue;
    std::string path = line.substr(second + 1);
    while (path.size() > 1) {
      folders.push_back(mount + path);
      path.resize(path.find_last_of('/'));
    }
  }
  return folders;
}

double quota_cpus(const std::string& root) {
  double cpus = std::numeric_limits<double>::infinity();
  const auto limit = [&](std::optional<double> quota, std::optional<double> period) {
    if (quota && period && *quota > 0 && *period > 0) cpus = std::min(cpus, *quota / *period);
  };
  for (const auto& folder : cgroup_folders(root, "")) {
    const auto line = first_line(folder + "/cpu.max");
    if (!line) continue;
    const auto space = line->find(' ');
    if (space == std::string::npos) continue;
    limit(parse_number(*line), parse_number(std::string_view(*line).substr(space + 1)));
  }
  for (const auto& folder : cgroup_folders(root, "cpu")) {
    limit(number_in(folder + "/cpu.cfs_quota_us"), number_in(folder + "/cpu.cfs_period_us"));
  }
  return cpus;
}

struct Memory {
  double limit = std::numeric_limits<double>::infinity();
  double available = std::numeric_limits<double>::infinity();
};

/// Page cache that the kernel can drop counts as available, as MemAvailable has it.
Memory cgroup_memory(const std::string& root) {
  Memory memory;
  const auto limit = [&](const std::string& folder, const char* maximum, const char* used,
                         const char* cache_key) {
    const auto bytes = number_in(folder + maximum);
    const auto current = number_in(folder + used);
    if (!bytes || *bytes <= 0) return;
    memory.limit = std::min(memory.limit, *bytes);
    const auto cached = value_of(folder + "/memory.stat", cache_key, ' ');
    const double droppable = cached ? parse_number(*cached).value_or(0) : 0;
    memory.available =
        std::min(memory.available, std::max(0.0, *bytes - current.value_or(0) + droppable));
  };
  for (const auto& folder : cgroup_folders(root, "")) {
    limit(folder, "/memory.max", "/memory.current", "inactive_file ");
  }
  for (const auto& folder : cgroup_folders(root, "memory")) {
    limit(folder, "/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file ");
  }
  return memory;
}

std::optional<double> kibibytes(const std::string& root, std::string_view key) {
  const auto value = value_of(root + "/proc/meminfo", key, ':');
  const auto number = value ? parse_number(*value) : std::nullopt;
  return number ? std::optional(*number * 1024) : std::nullopt;
}

std::optional<double> last_level_cache(const std::string& root) {
  std::optional<double> largest;
  for (int index = 0; index < 8; ++index) {
    const auto line = first_line(root + "/sys/devices/system/cpu/cpu0/cache/index" +
                                 std::to_string(index) + "/size");
    if (!line) continue;
    auto bytes = parse_number(*line);
    if (!bytes) continue;
    if (line->ends_with('K')) *bytes *= 1024;
    if (line->ends_with('M')) *bytes *= 1024 * 1024;
    largest = std::max(largest.value_or(0), *bytes);
  }
  return largest;
}

std::optional<bool> hypervisor_flag(const std::string& root) {
  const auto flags = value_of(root + "/proc/cpuinfo", "flags", ':');
  if (!flags) return std::nullopt;
  return (" " + *flags + " ").find(" hypervisor ") != std::string::npos;
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

}  // namespace

MachineInfo probe_machine(const std::string& root) {
  MachineInfo info;
  info.cpu = value_of(root + "/proc/cpuinfo", "model name", ':').value_or("unknown");
  info.cores = std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  double affinity = info.cores;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) affinity = CPU_COUNT(&set);
  info.usable_cpus = std::max(0.01, std::min(affinity, quota_cpus(root)));
  const Memory group = cgroup_memory(root);
  info.memory_bytes = std::min(kibibytes(root, "MemTotal").value_or(0), group.limit);
  info.memory_available_bytes =
      std::min(kibibytes(root, "MemAvailable").value_or(info.memory_bytes), group.available);
  info.llc_bytes = last_level_cache(root);
  info.os = operating_system(root);
  info.virtualized = hypervisor_flag(root);
  return info;
}

std::optional<CpuTimes> read_cpu_times(const std::string& root) {
  const auto line = first_line(root + "/proc/stat");
  if (!line || !line->starts_with("cpu ")) return std::nullopt;
  std::istringstream fields(line->substr(4));
  CpuTimes times;
  // user nice system idle iowait irq softirq steal; guest times are part of user and nice.
  std::uint64_t ticks = 0;
  for (int field = 0; field < 8 && fields >> ticks; ++field) {
    times.total += ticks;
    if (field == 7) times.steal = ticks;
  }
  return times;
}

std::optional<double> steal_share(const CpuTimes& before, const CpuTimes& after) {
  if (after.total <= before.total || after.steal < before.steal) return std::nullopt;
  return static_cast<double>(after.steal - before.steal) /
         static_cast<double>(after.total - before.total);
}

}  // namespace cachebisect
