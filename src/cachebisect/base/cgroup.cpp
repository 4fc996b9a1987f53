#include "cachebisect/base/cgroup.hpp"

#include <algorithm>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include "cachebisect/base/proc_files.hpp"

namespace cachebisect {
namespace {

/// Paths of this process's groups under a controller's mount; under v2's if `controller` is empty.
std::vector<std::string> group_paths(const std::string& root, std::string_view controller) {
  std::vector<std::string> paths;
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':');
    if (first == std::string::npos) continue;
    const auto second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string wanted = "," + std::string(controller) + ",";
    const bool match = controller.empty() ? names == ",," : names.find(wanted) != std::string::npos;
    if (match) paths.push_back(line.substr(second + 1));
  }
  return paths;
}

/// Folders of a group and of its parents, up to the mount itself: in a container, the mount is the
/// container's own group, whatever the path says.
void add_folders(const std::string& mount, const std::vector<std::string>& paths,
                 std::vector<std::string>& folders) {
  folders.push_back(mount);
  for (std::string path : paths) {
    while (path.size() > 1 && path.front() == '/') {
      folders.push_back(mount + path);
      path.resize(path.find_last_of('/'));
    }
  }
}

std::vector<std::string> v2_folders(const std::string& root) {
  std::vector<std::string> folders;
  const auto paths = group_paths(root, "");
  add_folders(root + "/sys/fs/cgroup", paths, folders);
  add_folders(root + "/sys/fs/cgroup/unified", paths, folders);
  return folders;
}

std::vector<std::string> v1_folders(const std::string& root, const std::string& controller) {
  std::vector<std::string> folders;
  add_folders(root + "/sys/fs/cgroup/" + controller, group_paths(root, controller), folders);
  return folders;
}

struct Quota {
  double cpus = 0;
  double period_seconds = 0;
};

std::optional<Quota> quota_of(std::optional<double> quota_us, std::optional<double> period_us) {
  if (!quota_us || !period_us || *quota_us <= 0 || *period_us <= 0) return std::nullopt;
  return Quota{*quota_us / *period_us, 1e-6 * *period_us};
}

std::optional<Quota> v2_quota(const std::string& folder) {
  const auto line = first_line(folder + "/cpu.max");
  if (!line) return std::nullopt;
  const auto space = line->find(' ');
  if (space == std::string::npos) return std::nullopt;
  return quota_of(leading_number(*line), leading_number(std::string_view(*line).substr(space + 1)));
}

std::optional<Quota> v1_quota(const std::string& folder) {
  return quota_of(number_in(folder + "/cpu.cfs_quota_us"),
                  number_in(folder + "/cpu.cfs_period_us"));
}

std::vector<std::pair<std::string, Quota>> groups_with_quota(const std::string& root) {
  std::vector<std::pair<std::string, Quota>> groups;
  for (const auto& folder : v2_folders(root)) {
    if (const auto quota = v2_quota(folder)) groups.emplace_back(folder, *quota);
  }
  for (const auto& folder : v1_folders(root, "cpu")) {
    if (const auto quota = v1_quota(folder)) groups.emplace_back(folder, *quota);
  }
  return groups;
}

struct MemoryFiles {
  const char* maximum;
  const char* used;
  const char* inactive;  ///< page cache, as keys in memory.stat
  const char* active;
};

void limit_memory(const std::string& folder, const MemoryFiles& files, CgroupMemory& memory) {
  const auto bytes = number_in(folder + files.maximum);
  if (!bytes || *bytes <= 0) return;
  const double used = number_in(folder + files.used).value_or(0);
  const auto cached = [&](const char* key) {
    return std::max(0.0, keyed_number(folder + "/memory.stat", key).value_or(0));
  };
  const double inactive = cached(files.inactive);
  const double free = *bytes - used;
  memory.limit = std::min(memory.limit, *bytes);
  memory.available = std::min(memory.available, std::max(0.0, free + inactive));
  memory.spare = std::min(
      memory.spare, std::max(0.0, free + kPageCacheShare * (inactive + cached(files.active))));
}

}  // namespace

double quota_cpus(const std::string& root) {
  double cpus = std::numeric_limits<double>::infinity();
  for (const auto& [folder, quota] : groups_with_quota(root)) cpus = std::min(cpus, quota.cpus);
  return cpus;
}

CgroupMemory cgroup_memory(const std::string& root) {
  CgroupMemory memory;
  for (const auto& folder : v2_folders(root)) {
    limit_memory(folder, {"/memory.max", "/memory.current", "inactive_file", "active_file"},
                 memory);
  }
  for (const auto& folder : v1_folders(root, "memory")) {
    limit_memory(folder,
                 {"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file",
                  "total_active_file"},
                 memory);
  }
  return memory;
}

std::optional<QuotaPeriods> quota_periods(const std::string& root) {
  std::optional<QuotaPeriods> sum;
  for (const auto& [folder, quota] : groups_with_quota(root)) {
    const auto all = keyed_number(folder + "/cpu.stat", "nr_periods");
    const auto throttled = keyed_number(folder + "/cpu.stat", "nr_throttled");
    if (!all || !throttled) continue;
    if (!sum) sum.emplace();
    sum->all += *all;
    sum->throttled += *throttled;
    sum->seconds = std::max(sum->seconds, quota.period_seconds);
    sum->cpus = std::min(sum->cpus, quota.cpus);
  }
  return sum;
}

}  // namespace cachebisect
