// The machine, the device and the pipeline of a JSON report.
#include "cachebisect/report/json/read_parts.hpp"

namespace cachebisect::read_parts {
namespace {

Noise noise(const JsonValue& value) {
  return {.block_cv = value["block_cv"].optional_number(),
          .null_drop = estimate(value["null"], "drop"),
          .steal_share = value["steal_share"].optional_number(),
          .frequency_change = value["frequency_change"].optional_number(),
          .other_load = value["other_load_cpus"].optional_number(),
          .throttled_share = value["throttled_share"].optional_number(),
          .memory_stall_share = value["memory_stall_share"].optional_number(),
          .drift = estimate(value["drift"], "change")};
}

std::optional<DeviceEnvironment> environment(const JsonValue& value) {
  if (value.is_null()) return std::nullopt;
  return DeviceEnvironment{
      .launch_blocking = value["cuda_launch_blocking"].text_or_empty(),
      .device_max_connections = value["cuda_device_max_connections"].text_or_empty(),
      .visible_devices = value["cuda_visible_devices"].text_or_empty(),
      .profiler = value["profiler"].text_or_empty()};
}

DeviceFacts device_facts(const JsonValue& value) {
  const JsonValue pcie = value["pcie"];
  return {.driver_version = value["driver_version"].text_or_empty(),
          .cuda_driver_version = value["cuda_driver_version"].text_or_empty(),
          .cuda_runtime_version = value["cuda_runtime_version"].text_or_empty(),
          .libtorch_version = value["libtorch_version"].text_or_empty(),
          .cudnn_version = value["cudnn_version"].text_or_empty(),
          .compute_capability = value["compute_capability"].text_or_empty(),
          .pci_bus_id = value["pci_bus_id"].text_or_empty(),
          .uuid = value["uuid"].text_or_empty(),
          .pcie_generation = pcie["generation"].optional_whole(),
          .pcie_width = pcie["width"].optional_whole(),
          .max_pcie_generation = pcie["max_generation"].optional_whole(),
          .max_pcie_width = pcie["max_width"].optional_whole(),
          .persistence_mode = value["persistence_mode"].optional_flag(),
          .mig_mode = value["mig"].optional_flag(),
          .environment = environment(value["environment"])};
}

void read_device(const JsonValue& value, ChainDescription& chain) {
  chain.device_kind = device_kind(value["kind"]);
  chain.device_name = value["name"].text_or_empty();
  chain.device_memory_bytes = value["memory_bytes"].optional_number();
  chain.copy_gb_per_s = value["copy_gb_per_s"].optional_number();
  chain.device_facts = device_facts(value);
}

std::optional<WorkerSearch> worker_search(const JsonValue& value) {
  if (value.is_null()) return std::nullopt;
  WorkerSearch search;
  for (const JsonValue& trial : value["trials"].items()) {
    search.trials.push_back({.workers = trial["workers"].whole_or(0),
                             .samples_per_second = trial["samples_per_second"].number_or(0),
                             .interval = trial["interval"].interval().value_or(Interval{})});
  }
  search.certain = value["certain"].flag_or(true);
  search.limited_by = value["limited_by"].text_or_empty();
  return search;
}

std::optional<BatchContents> batch_contents(const JsonValue& value) {
  if (value.is_null()) return std::nullopt;
  return BatchContents{.objects = value["objects"].count_or(0),
                       .tensors = value["tensors"].count_or(0),
                       .packed_tensors = value["packed_tensors"].count_or(0),
                       .bytes = value["bytes"].number_or(0)};
}

}  // namespace

MachineReport machine(const JsonValue& value) {
  MachineReport m;
  m.cpu = value["cpu"].text_or_empty();
  m.cores = value["cores"].whole_or(0);
  m.usable_cpus = value["usable_cpus"].amount_or_zero();
  m.usable_cores = value["usable_cores"].optional_number();
  m.numa_nodes = value["numa_nodes"].optional_whole();
  m.memory_bytes = value["memory_bytes"].amount_or_zero();
  m.os = value["os"].text_or_empty();
  m.virtualized = value["virtualized"].optional_flag();
  m.noise = noise(value["noise"]);
  m.floor = {.ns_per_sample = value["floor"]["ns_per_sample"].optional_number(),
             .us_per_batch = value["floor"]["us_per_batch"].optional_number()};
  return m;
}

ChainDescription chain(const JsonValue& device, const JsonValue& value) {
  ChainDescription c;
  read_device(device, c);
  c.name = value["name"].text_or_empty();
  c.file = value["file"].text_or_empty();
  c.sha256 = value["sha256"].text_or_empty();
  c.batch_size = value["batch_size"].whole_or(1, 1);
  c.workers = value["workers"].whole_or(0);
  c.worker_search = worker_search(value["worker_search"]);
  if (!value["loader"].is_null()) c.loader = value["loader"].one_of(kLoaderKinds);
  c.ranks = value["ranks"].whole_or(1, 1);
  c.ring_slots = value["ring_slots"].whole_or(0);
  c.train_threads = value["train_threads"].whole_or(1);
  c.worker_threads = value["worker_threads"].whole_or(1);
  c.worker_bytes = value["worker_bytes"].optional_number();
  c.persistent_workers = value["persistent_workers"].flag_or(false);
  c.batch_contents = batch_contents(value["batch_contents"]);
  if (!value["effective"].is_null()) c.effective_json = value["effective"].json();
  c.generated_data = value["generated_data"].flag_or(false);
  return c;
}

}  // namespace cachebisect::read_parts
