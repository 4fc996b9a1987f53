// What an adapter sends, as JSON (docs/extend/protocol.md).
#pragma once

#include <array>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect::test {

template <class T>
nlohmann::json or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

inline nlohmann::json to_json(const StageDescription& stage) {
  return {{"name", stage.name},
          {"type", stage.type},
          {"kind", to_string(stage.kind)},
          {"random", stage.random},
          {"stateful", stage.stateful},
          {"side_effects", stage.side_effects},
          {"cacheable", stage.cacheable},
          {"output", stage.output},
          {"output_bytes", or_null(stage.output_bytes)},
          {"held", to_string(stage.held)}};
}

inline nlohmann::json to_json(const BatchContents& contents) {
  return {{"objects", contents.objects},
          {"tensors", contents.tensors},
          {"packed_tensors", contents.packed_tensors},
          {"bytes", contents.bytes}};
}

inline nlohmann::json to_json(const ChainDescription& chain) {
  nlohmann::json stages = nlohmann::json::array();
  for (const StageDescription& stage : chain.stages) stages.push_back(to_json(stage));
  return {{"name", chain.name},
          {"file", chain.file},
          {"sha256", chain.sha256},
          {"effective", nullptr},
          {"stages", std::move(stages)},
          {"batch_size", chain.batch_size},
          {"workers", chain.workers},
          {"loader", to_string(chain.loader)},
          {"ring_slots", chain.ring_slots},
          {"keeps_queues", chain.keeps_queues},
          {"ring_prefetch", chain.ring_prefetch},
          {"batches_per_step", chain.batches_per_step},
          {"train_threads", chain.train_threads},
          {"worker_threads", chain.worker_threads},
          {"local_ranks", chain.local_ranks},
          {"worker_bytes", or_null(chain.worker_bytes)},
          {"epoch_start_seconds", or_null(chain.epoch_start_seconds)},
          {"persistent_workers", chain.persistent_workers},
          {"counts_storage", chain.counts_storage},
          {"batch_contents",
           chain.batch_contents ? to_json(*chain.batch_contents) : nlohmann::json(nullptr)},
          {"samples", chain.samples},
          {"epoch_samples", or_null(chain.epoch_samples)},
          {"generated_data", chain.generated_data},
          {"shuffle", chain.shuffle},
          {"seed", chain.seed},
          {"order_nonce", or_null(chain.order_nonce)},
          {"train", chain.train},
          {"weights_restored", chain.weights_restored},
          {"sync_every", chain.sync_every},
          {"copy_pinned", chain.copy_pinned},
          {"copy_non_blocking", or_null(chain.copy_non_blocking)},
          {"copy_prefetch", chain.copy_prefetch},
          {"device_kind", to_string(chain.device_kind)},
          {"device_name", chain.device_name},
          {"device_memory_bytes", or_null(chain.device_memory_bytes)},
          {"copy_gb_per_s", or_null(chain.copy_gb_per_s)},
          {"usable_cpus", or_null(chain.usable_cpus)}};
}

inline nlohmann::json to_json(const CacheFacts& facts) {
  return {{"samples", facts.samples},
          {"bytes_host", facts.bytes_host},
          {"bytes_device", facts.bytes_device},
          {"limited_by", facts.limited_by},
          {"seconds", facts.seconds},
          {"data_set_bytes", or_null(facts.data_set_bytes)},
          {"serve_seconds_per_sample", facts.serve_seconds_per_sample},
          {"item_bytes", facts.item_bytes},
          {"idle_workers", facts.idle_workers},
          {"floor_seconds_per_sample", or_null(facts.floor_seconds_per_sample)},
          {"floor_seconds_per_batch", or_null(facts.floor_seconds_per_batch)}};
}

inline nlohmann::json to_json(const StorageCounts& counts) {
  return {{"samples", counts.samples},
          {"workers", counts.workers},
          {"seconds", counts.seconds},
          {"file_opens", or_null(counts.file_opens)},
          {"file_reads", counts.file_reads},
          {"file_bytes", counts.file_bytes},
          {"disk_bytes", or_null(counts.disk_bytes)},
          {"page_faults", counts.page_faults},
          {"requests", counts.requests},
          {"request_seconds", counts.request_seconds},
          {"waiting_seconds", counts.waiting_seconds},
          {"most_in_flight", counts.most_in_flight},
          {"received_bytes", counts.received_bytes},
          {"connections", counts.connections},
          {"clients", counts.clients},
          {"throttled", counts.throttled},
          {"failed", counts.failed},
          {"reopened", counts.reopened}};
}

inline nlohmann::json to_json(const StageCounters& counters) {
  return {{"samples", counters.samples},
          {"busy_seconds", counters.busy_seconds},
          {"cpu_seconds", counters.cpu_seconds},
          {"serial_seconds", counters.serial_seconds},
          {"slot_write_seconds", counters.slot_write_seconds},
          {"slot_writes", counters.slot_writes}};
}

inline nlohmann::json to_json(const DeviceReading& reading) {
  nlohmann::json json{{"sm_clock_mhz", or_null(reading.sm_clock_mhz)},
                      {"memory_clock_mhz", or_null(reading.memory_clock_mhz)},
                      {"power_watts", or_null(reading.power_watts)},
                      {"utilization", or_null(reading.utilization)},
                      {"pcie_generation", or_null(reading.pcie_generation)},
                      {"pcie_width", or_null(reading.pcie_width)}};
  if (reading.throttling) {
    json["throttling"] = {{"thermal", reading.throttling->thermal},
                          {"power", reading.throttling->power}};
  }
  return json;
}

inline nlohmann::json to_json(const StepFunction& function) {
  return {{"name", function.name},
          {"file", function.file},
          {"line", function.line},
          {"share", function.share},
          {"movable", function.movable}};
}

inline nlohmann::json to_json(const BlockResult& block) {
  nlohmann::json stages = nlohmann::json::array();
  for (const StageCounters& counters : block.stages) stages.push_back(to_json(counters));
  nlohmann::json functions = nlohmann::json::array();
  for (const StepFunction& function : block.step_functions) functions.push_back(to_json(function));
  return {{"start_seconds", block.start_seconds},
          {"seconds", block.seconds},
          {"steps", block.steps},
          {"warmup_steps", block.warmup_steps},
          {"group_taus", block.group_taus},
          {"samples", block.samples},
          {"cpu_seconds", block.cpu_seconds},
          {"starved_seconds", block.starved_seconds},
          {"skipped", block.skipped},
          {"first_skipped", block.first_skipped},
          {"resident_share", or_null(block.resident_share)},
          {"void", block.is_void},
          {"padding_share", block.padding_share},
          {"first_batch_seconds", block.first_batch_seconds},
          {"trainer_seconds", block.trainer_seconds},
          {"ready_batches", or_null(block.ready_batches)},
          {"device_idle_share", or_null(block.device_idle_share)},
          {"device", to_json(block.device)},
          {"stages", std::move(stages)},
          {"not_kept", block.not_kept},
          {"step_functions", std::move(functions)}};
}

/// The arm of a request.
inline Arm arm_of(const nlohmann::json& json) {
  constexpr std::array kKinds{ArmKind::replay, ArmKind::bypass, ArmKind::shadow,
                              ArmKind::live,   ArmKind::null,   ArmKind::unseen};
  Arm arm;
  for (const ArmKind kind : kKinds) {
    if (json.at("kind") == to_string(kind)) arm.kind = kind;
  }
  arm.boundary = json.at("boundary");
  arm.stage = json.at("stage");
  arm.overrides = json.at("overrides");
  arm.observed = json.at("observed");
  arm.cache_samples = json.at("cache_samples");
  return arm;
}

inline BlockRequest block_request_of(const nlohmann::json& json) {
  return {.arm = arm_of(json.at("arm")),
          .steps = json.at("steps"),
          .warmup_steps = json.at("warmup_steps"),
          .seed = json.at("seed"),
          .groups = json.at("groups"),
          .max_seconds = json.at("max_seconds"),
          .profile = json.value("profile", false)};
}

}  // namespace cachebisect::test
