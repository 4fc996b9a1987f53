#include "cachebisect/bisect/analysis/machine_report.hpp"

#include <cmath>
#include <vector>

#include "cachebisect/bisect/evidence/drift.hpp"
#include "cachebisect/bisect/evidence/paired_sequence.hpp"

namespace cachebisect {
namespace {

std::optional<double> block_cv(const RoundTable& rounds) {
  std::vector<double> cvs;
  for (int k = 0; k <= rounds.last(); ++k) {
    if (rounds.visits(k) >= kUsualRepeats) {
      cvs.push_back(coefficient_of_variation(rounds.block_taus(k)));
    }
  }
  return cvs.empty() ? std::nullopt : std::optional(median(cvs));
}

Estimate null_drop(const RoundTable& rounds, double confidence) {
  if (rounds.null_log_ratios().empty()) return {};
  PairedSequence sequence(2 / (1 - confidence));
  for (const double ratio : rounds.null_log_ratios()) sequence.add(ratio);
  return {theta_to_drop(sequence.centre()), sequence.drop_interval()};
}

Estimate live_drift(const RoundTable& rounds, double confidence) {
  std::vector<double> log_taus = rounds.block_taus(0);
  for (double& tau : log_taus) tau = std::log(tau);
  return find_drift(log_taus, confidence);
}

void set_counted(const Disturbance& seen, Noise& noise) {
  noise.steal_share = seen.steal_share;
  noise.other_load = seen.other_load;
  noise.frequency_change = seen.frequency_change;
  noise.throttled_share = seen.throttled_share;
  noise.memory_stall_share = seen.memory_stall_share;
}

}  // namespace

MachineReport describe_machine(const MachineInfo& machine, const Disturbance& seen) {
  MachineReport report;
  report.cpu = machine.cpu;
  report.cores = machine.cores;
  report.usable_cpus = machine.usable_cpus;
  report.usable_cores = machine.usable_cores;
  report.numa_nodes = machine.numa_nodes;
  report.memory_bytes = machine.memory_bytes;
  report.os = machine.os;
  report.virtualized = machine.virtualized;
  set_counted(seen, report.noise);
  return report;
}

MachineReport describe_machine(const Measurements& measured) {
  MachineReport report = describe_machine(measured.machine, measured.disturbance);
  report.usable_cpus = measured.usable_cpus();
  if (const auto& seconds = measured.cache.floor_seconds_per_sample) {
    report.floor.ns_per_sample = 1e9 * *seconds;
  }
  if (const auto& seconds = measured.cache.floor_seconds_per_batch) {
    report.floor.us_per_batch = 1e6 * *seconds;
  }
  for (const NodeDisturbance& node : measured.other_nodes) {
    set_counted(
        node.seen,
        report.other_nodes.emplace_back(NodeMachine{node.node, node.usable_cpus, {}}).noise);
  }
  const RoundTable& rounds = measured.verdict.table;
  const double confidence = measured.settings.confidence;
  report.noise.block_cv = block_cv(rounds);
  report.noise.null_drop = null_drop(rounds, confidence);
  report.noise.drift = live_drift(rounds, confidence);
  return report;
}

}  // namespace cachebisect
