// What a relay sends on of the answers of its ranks.
#include <array>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "cachebisect/remote/messages.hpp"

namespace cachebisect {
namespace {

using nlohmann::json;

template <class Value>
void set_if_known(json& object, const char* key, const std::optional<Value>& value) {
  if (value) object[key] = *value;
}

template <class Number>
void set_unless_zero(json& object, const char* key, Number value) {
  if (value != Number{}) object[key] = value;
}

template <class Items>
void set_if_any(json& object, const char* key, const Items& items) {
  if (!items.empty()) object[key] = items;
}

json counters_json(const StageCounters& counters) {
  json object{{"samples", counters.samples},
              {"busy_seconds", counters.busy_seconds},
              {"cpu_seconds", counters.cpu_seconds},
              {"serial_seconds", counters.serial_seconds}};
  set_unless_zero(object, "slot_write_seconds", counters.slot_write_seconds);
  set_unless_zero(object, "slot_writes", counters.slot_writes);
  return object;
}

json device_json(const DeviceReading& reading) {
  json object = json::object();
  set_if_known(object, "sm_clock_mhz", reading.sm_clock_mhz);
  set_if_known(object, "memory_clock_mhz", reading.memory_clock_mhz);
  set_if_known(object, "power_watts", reading.power_watts);
  set_if_known(object, "utilization", reading.utilization);
  set_if_known(object, "pcie_generation", reading.pcie_generation);
  set_if_known(object, "pcie_width", reading.pcie_width);
  if (reading.throttling) {
    object["throttling"] = {{"thermal", reading.throttling->thermal},
                            {"power", reading.throttling->power}};
  }
  return object;
}

json step_function_json(const StepFunction& function) {
  return {{"name", function.name},
          {"file", function.file},
          {"line", function.line},
          {"share", function.share},
          {"movable", function.movable}};
}

const char* name_of_kind(ErrorKind kind) {
  constexpr std::array<std::pair<ErrorKind, const char*>, 4> kNames{
      {{ErrorKind::data, "data"},
       {ErrorKind::usage, "usage"},
       {ErrorKind::device, "device"},
       {ErrorKind::interrupted, "interrupted"}}};
  for (const auto& [known, name] : kNames) {
    if (known == kind) return name;
  }
  return "internal";
}

}  // namespace

json block_json(const BlockResult& block) {
  json object{{"start_seconds", block.start_seconds},
              {"seconds", block.seconds},
              {"steps", block.steps},
              {"warmup_steps", block.warmup_steps},
              {"samples", block.samples},
              {"cpu_seconds", block.cpu_seconds},
              {"starved_seconds", block.starved_seconds}};
  set_unless_zero(object, "skipped", block.skipped);
  set_unless_zero(object, "void", block.is_void);
  set_unless_zero(object, "padding_share", block.padding_share);
  set_unless_zero(object, "first_batch_seconds", block.first_batch_seconds);
  set_unless_zero(object, "trainer_seconds", block.trainer_seconds);
  set_if_any(object, "group_taus", block.group_taus);
  set_if_any(object, "first_skipped", block.first_skipped);
  set_if_any(object, "not_kept", block.not_kept);
  set_if_known(object, "resident_share", block.resident_share);
  set_if_known(object, "ready_batches", block.ready_batches);
  set_if_known(object, "device_idle_share", block.device_idle_share);
  set_if_any(object, "device", device_json(block.device));
  for (const StageCounters& stage : block.stages) {
    object["stages"].push_back(counters_json(stage));
  }
  for (const StepFunction& function : block.step_functions) {
    object["step_functions"].push_back(step_function_json(function));
  }
  return object;
}

json error_json(const Error& error) {
  json object{{"kind", name_of_kind(error.kind())}, {"text", error.what()}};
  set_if_any(object, "traceback", error.details());
  return object;
}

}  // namespace cachebisect
