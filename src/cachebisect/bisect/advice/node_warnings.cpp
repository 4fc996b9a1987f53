#include "cachebisect/bisect/advice/node_warnings.hpp"

#include <array>
#include <optional>
#include <string>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/advice/warnings.hpp"
#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

/// One kind of disturbance.
struct Kind {
  const char* code;
  std::optional<double> Noise::*value;
  double (*bar)(const NodeMachine& node);  ///< above it the figures are in doubt
  std::string (*what)(double value);
  const char* remedy;
};

double load_bar(const NodeMachine& node) {
  return load_worth_a_warning(node.usable_cpus.value_or(0));
}
double clock_bar(const NodeMachine& /*node*/) { return kReportAbove; }
double share_bar(const NodeMachine& /*node*/) { return kNegligible; }

std::string load_text(double cpus) {
  return "other processes kept " + cpus_text(cpus) +
         " busy, of those that its ranks may use, while they were measured";
}
std::string clock_text(double change) {
  return "the CPU clock changed by " + percent(change) + " while its ranks were measured";
}
std::string pressure_text(double share) {
  return "programs waited for memory " + percent(share) +
         " of the time: pages are swapped or dropped and read again";
}
std::string throttled_text(double share) {
  return "the container's CPU quota ran out in " + percent(share) +
         " of its periods: every thread there then stood still, and all ranks waited";
}
std::string steal_text(double share) {
  return percent(share) + " of the CPU time was taken by the hypervisor";
}

constexpr std::array kKinds{
    Kind{"node_other_load", &Noise::other_load, load_bar, load_text,
         "stop them, or read every figure as that of a job with this load"},
    Kind{"node_frequency", &Noise::frequency_change, clock_bar, clock_text,
         "fix it (cpupower frequency-set -g performance), or let the machine cool"},
    Kind{"node_memory_pressure", &Noise::memory_stall_share, share_bar, pressure_text,
         "give the caches less (--cache-host BYTES), or close other programs there"},
    Kind{"node_throttled", &Noise::throttled_share, share_bar, throttled_text,
         "fewer workers, or a larger quota"},
    Kind{"node_steal", &Noise::steal_share, share_bar, steal_text,
         "measure on machines of your own, or again at another time"}};

std::string node_text(const std::string& worst, std::size_t machines) {
  std::string place = "on node " + worst;
  if (machines == 2) place += " (and one other)";
  if (machines > 2) place += " (and " + std::to_string(machines - 1) + " others)";
  return place + ", ";
}

}  // namespace

std::vector<Warning> find_node_warnings(const std::vector<NodeMachine>& nodes) {
  std::vector<Warning> out;
  for (const Kind& kind : kKinds) {
    std::optional<double> most;
    std::string worst;
    std::size_t machines = 0;
    for (const NodeMachine& node : nodes) {
      const std::optional<double> value = node.noise.*kind.value;
      if (!value || *value <= kind.bar(node)) continue;
      ++machines;
      if (most && *most >= *value) continue;
      most = value;
      worst = node.name;
    }
    if (most)
      out.push_back({kind.code, node_text(worst, machines) + kind.what(*most), kind.remedy});
  }
  return out;
}

}  // namespace cachebisect
