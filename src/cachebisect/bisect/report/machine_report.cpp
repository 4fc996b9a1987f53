#include "cachebisect/bisect/report/machine_report.hpp"

namespace cachebisect {

MachineReport describe_machine(const MachineInfo& machine) {
  MachineReport report;
  report.cpu = machine.cpu;
  report.cores = machine.cores;
  report.usable_cpus = machine.usable_cpus;
  report.memory_bytes = machine.memory_bytes;
  report.os = machine.os;
  report.virtualized = machine.virtualized;
  return report;
}

void fill_disturbance(Noise& noise, const Disturbance& seen) {
  noise.steal_share = seen.steal_share;
  noise.other_load = seen.other_load;
  noise.frequency_change = seen.frequency_change;
  noise.throttled_share = seen.throttled_share;
  noise.memory_stall_share = seen.memory_stall_share;
}

}  // namespace cachebisect
