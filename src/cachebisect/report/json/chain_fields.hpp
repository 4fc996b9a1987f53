// The fields of the machine, the device and the pipeline in the JSON report (base/fields.hpp).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/fields.hpp"
#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/protocol/chain_fields.hpp"

namespace cachebisect {

/// A figure, and its interval under a key of its own.
template <class Visitor>
void estimate(Visitor& v, const FieldKey& value, const FieldKey& interval,
              Visited<Visitor, Estimate>& estimate) {
  v.number(value, estimate.value);
  v.interval(interval, estimate.interval);
}

/// {"samples_per_second", "interval"} in an object of its own.
template <class Visitor>
void rate(Visitor& v, const FieldKey& key, Visited<Visitor, Estimate>& rate) {
  v.group(key, [&] { estimate(v, {"samples_per_second"}, {"interval"}, rate); });
}

/// What the counters of a machine tell.
template <class Visitor>
void counted_fields(Visitor& v, Visited<Visitor, Noise>& noise) {
  v.number({"steal_share"}, noise.steal_share);
  v.number({"frequency_change",
            "(most - least) / most of the fastest CPU's clock; null where it cannot be read"},
           noise.frequency_change);
  v.number(
      {"other_load_cpus", "mean CPUs busy with other processes, of those that this one may use"},
      noise.other_load);
  v.number(
      {"throttled_share", "of the periods of the container's CPU quota, those in which it ran out"},
      noise.throttled_share);
  v.number({"memory_stall_share", "of the time, that in which some program waited for memory"},
           noise.memory_stall_share);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, Noise>& noise) {
  v.number({"block_cv", "standard deviation over mean of blocks of one arm"}, noise.block_cv);
  v.group({"null"}, [&] { estimate(v, {"drop"}, {"interval"}, noise.null_drop); });
  counted_fields(v, noise);
  v.group({"drift", "of the live seconds per sample from the first to the last round, as a share"},
          [&] { estimate(v, {"change"}, {"interval"}, noise.drift); });
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, ToolFloor>& floor) {
  v.number({"ns_per_sample"}, floor.ns_per_sample);
  v.number({"us_per_batch"}, floor.us_per_batch);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, NodeMachine>& node) {
  v.text({"name"}, node.name);
  v.number({"usable_cpus", "by affinity and the cgroup's quota"}, node.usable_cpus);
  counted_fields(v, node.noise);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, MachineReport>& m) {
  v.text({"cpu"}, m.cpu);
  v.whole({"cores"}, m.cores);
  v.amount({"usable_cpus", "by affinity and the cgroup's quota"}, m.usable_cpus);
  v.number({"usable_cores",
            "physical cores, by affinity and the cgroup's quota; hyper-threads do not count",
            Presence::added},
           m.usable_cores);
  v.whole({"numa_nodes", "memory nodes of the usable CPUs", Presence::added}, m.numa_nodes);
  v.amount({"memory_bytes"}, m.memory_bytes);
  v.text({"os"}, m.os);
  v.flag({"virtualized"}, m.virtualized);
  v.part({"noise"}, m.noise);
  v.part({"floor", "the tool's own cost"}, m.floor);
  v.list(
      {"other_nodes", "machines of the job besides this one, while it measured", Presence::added},
      m.other_nodes);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, DeviceEnvironment>& e) {
  v.optional_text({"cuda_launch_blocking"}, e.launch_blocking);
  v.optional_text({"cuda_device_max_connections"}, e.device_max_connections);
  v.optional_text({"cuda_visible_devices"}, e.visible_devices);
  v.optional_text({"profiler", "that is attached to the process, by the environment"}, e.profiler);
}

template <class Visitor>
void pcie_fields(Visitor& v, Visited<Visitor, DeviceFacts>& facts) {
  v.whole({"generation", "in use during a copy"}, facts.pcie_generation);
  v.whole({"width", "lanes in use during a copy"}, facts.pcie_width);
  v.whole({"max_generation", "of device and slot together"}, facts.max_pcie_generation);
  v.whole({"max_width"}, facts.max_pcie_width);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, DeviceFacts>& facts) {
  constexpr auto kAdded = Presence::added;
  v.optional_text({"driver_version", "NVIDIA driver, as 580.65.06", kAdded}, facts.driver_version);
  v.optional_text({"cuda_driver_version", "the newest CUDA that the driver serves", kAdded},
                  facts.cuda_driver_version);
  v.optional_text({"cuda_runtime_version", "CUDA runtime that this tool is linked with", kAdded},
                  facts.cuda_runtime_version);
  v.optional_text(
      {"libtorch_version",
       "of the library that computes the training step; null if it is not LibTorch", kAdded},
      facts.libtorch_version);
  v.optional_text({"cudnn_version", {}, kAdded}, facts.cudnn_version);
  v.optional_text({"compute_capability", "as 9.0", kAdded}, facts.compute_capability);
  v.optional_text({"pci_bus_id", {}, kAdded}, facts.pci_bus_id);
  v.optional_text({"uuid", {}, kAdded}, facts.uuid);
  v.group({"pcie", "link between host and device", kAdded}, [&] { pcie_fields(v, facts); });
  v.flag({"persistence_mode", {}, kAdded}, facts.persistence_mode);
  v.flag({"mig", "the device is divided into instances", kAdded}, facts.mig_mode);
  v.part({"environment", "variables that change how a CUDA device works; null on other devices",
          kAdded},
         facts.environment);
}

/// The part "device".
template <class Visitor>
void device_fields(Visitor& v, Visited<Visitor, ChainDescription>& chain) {
  v.choice({"kind", {}, Presence::required}, chain.device_kind, kAllDeviceKinds);
  v.text({"name"}, chain.device_name);
  v.number({"memory_bytes"}, chain.device_memory_bytes);
  v.number({"copy_gb_per_s",
            "host to device: configured (emulated), or reached by a pinned copy when the run began "
            "(cuda)"},
           chain.copy_gb_per_s);
  fields(v, chain.device_facts);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, WorkerTrial>& trial) {
  v.whole({"workers"}, trial.workers);
  v.number({"samples_per_second", "of the whole loop, median of short blocks"},
           trial.samples_per_second);
  if constexpr (Visitor::kReads) {
    std::optional<Interval> interval;
    v.interval({"interval"}, interval);
    trial.interval = interval.value_or(Interval{});
  } else {
    v.interval({"interval"}, trial.interval);
  }
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, WorkerSearch>& search) {
  v.list({"trials"}, search.trials);
  v.flag({"certain",
          "the blocks tell, at 95%, whether each count is more than 3% faster than half of it"},
         search.certain);
  v.optional_text(
      {"limited_by", "what kept larger counts from being tried: workers, memory or time"},
      search.limited_by);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, NodeDescription>& node) {
  v.text({"name"}, node.name);
  v.whole({"first_rank"}, node.ranks.first);
  v.whole({"ranks"}, node.ranks.count, 1);
}

/// The part "pipeline"; `skipped` visits the samples that were skipped.
template <class Visitor, class Skipped>
void pipeline_fields(Visitor& v, Visited<Visitor, ChainDescription>& chain,
                     const Skipped& skipped) {
  name_fields(v, chain);
  v.part({"worker_search", "how workers: auto was resolved; null if the count was given",
          Presence::added},
         chain.worker_search);
  loader_field(v, chain);
  v.whole({"ranks", "processes that train together; every figure is that of one of them",
           Presence::added},
          chain.ranks, 1);
  v.whole({"ranks_without_loader",
           "of these: they take part in every step, and read nothing (tensor and pipeline parallel "
           "jobs)",
           Presence::added},
          chain.ranks_without_loader);
  v.list({"nodes", "machines of the job; empty for one", Presence::added}, chain.nodes);
  loading_fields(v, chain);
  content_fields(v, chain);
  skipped();
}

}  // namespace cachebisect
