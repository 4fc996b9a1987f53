#include "cachebisect/base/topology.hpp"

#include <algorithm>
#include <set>

#include "cachebisect/base/number_parse.hpp"
#include "cachebisect/base/proc_files.hpp"

namespace cachebisect {
namespace {

constexpr int kMaxNumbers = 65536;

std::vector<int> list_in(const std::string& file) {
  const auto line = first_line(file);
  return line ? parse_cpu_list(*line) : std::vector<int>{};
}

/// The CPUs of the core that this one belongs to, itself among them; empty if they cannot be read.
std::vector<int> siblings_of(int cpu, const std::string& root) {
  const std::string folder =
      root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
  for (const char* const name : {"core_cpus_list", "thread_siblings_list"}) {
    std::vector<int> siblings = list_in(folder + name);
    if (std::ranges::binary_search(siblings, cpu)) return siblings;
  }
  return {};
}

std::optional<int> count_cores(const std::vector<int>& cpus, const std::string& root) {
  std::set<std::vector<int>> cores;
  bool known = false;
  for (const int cpu : cpus) {
    std::vector<int> siblings = siblings_of(cpu, root);
    known = known || !siblings.empty();
    if (siblings.empty()) siblings = {cpu};
    cores.insert(std::move(siblings));
  }
  return known ? std::optional(static_cast<int>(cores.size())) : std::nullopt;
}

std::optional<int> count_nodes(const std::vector<int>& cpus, const std::string& root) {
  const std::string folder = root + "/sys/devices/system/node/";
  int nodes = 0;
  for (const int node : list_in(folder + "online")) {
    const std::vector<int> members = list_in(folder + "node" + std::to_string(node) + "/cpulist");
    nodes +=
        std::ranges::any_of(cpus, [&](int cpu) { return std::ranges::binary_search(members, cpu); })
            ? 1
            : 0;
  }
  return nodes > 0 ? std::optional(nodes) : std::nullopt;
}

}  // namespace

Topology topology_of(const std::vector<int>& cpus, const std::string& root) {
  return {count_cores(cpus, root), count_nodes(cpus, root)};
}

std::vector<int> parse_cpu_list(std::string_view text) {
  std::set<int> numbers;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(item.size() + 1, text.size()));
    const auto first = split_number<int>(item);
    if (!first) return {};
    int last = first->value;
    if (!first->rest.empty()) {
      const auto end = parse_number<int>(first->rest.substr(1));
      if (first->rest.front() != '-' || !end) return {};
      last = *end;
    }
    if (first->value < 0 || last < first->value || last >= kMaxNumbers) return {};
    for (int number = first->value; number <= last; ++number) numbers.insert(number);
  }
  return {numbers.begin(), numbers.end()};
}

}  // namespace cachebisect
