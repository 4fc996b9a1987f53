#include "cachebisect/bisect/record/node_watch.hpp"

#include <algorithm>

namespace cachebisect {
namespace {

std::optional<double> usable_cpus_of(const MachineReading& counters) {
  std::optional<double> cpus = counters.quota_cpus;
  if (counters.times && counters.times->cpus > 0) {
    const double allowed = counters.times->cpus;
    cpus = std::min(allowed, cpus.value_or(allowed));
  }
  return cpus;
}

}  // namespace

void NodeWatch::add(const std::vector<NodeReading>& readings) {
  for (const NodeReading& reading : readings) {
    auto known = std::ranges::find(nodes_, reading.node, &Watched::node);
    if (known == nodes_.end()) known = nodes_.insert(known, Watched{reading.node, {}, {}});
    known->usable_cpus = usable_cpus_of(reading.counters);
    known->watch.add(reading.counters);
  }
}

std::vector<NodeDisturbance> NodeWatch::seen() const {
  std::vector<NodeDisturbance> all;
  for (const Watched& one : nodes_) all.push_back({one.node, one.usable_cpus, one.watch.seen()});
  return all;
}

}  // namespace cachebisect
