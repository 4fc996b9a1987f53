#include "cachebisect/report/json/json_device.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace cachebisect {
namespace {

using json_values::flag;
using json_values::Json;
using json_values::number;
using json_values::text;
using json_values::whole;

Json environment(const std::optional<DeviceEnvironment>& e) {
  if (!e) return nullptr;
  return {{"cuda_launch_blocking", text(e->launch_blocking)},
          {"cuda_device_max_connections", text(e->device_max_connections)},
          {"cuda_visible_devices", text(e->visible_devices)},
          {"profiler", text(e->profiler)}};
}

Json throttled_by(const std::optional<Throttling>& throttling) {
  if (!throttling) return nullptr;
  Json causes = Json::array();
  if (throttling->thermal) causes.push_back("thermal");
  if (throttling->power) causes.push_back("power");
  return causes;
}

}  // namespace

Json device_json(const ChainDescription& chain) {
  const DeviceFacts& facts = chain.device_facts;
  return {{"kind", to_string(chain.device_kind)},
          {"name", chain.device_name},
          {"memory_bytes", number(chain.device_memory_bytes)},
          {"copy_gb_per_s", number(chain.copy_gb_per_s)},
          {"driver_version", text(facts.driver_version)},
          {"cuda_driver_version", text(facts.cuda_driver_version)},
          {"cuda_runtime_version", text(facts.cuda_runtime_version)},
          {"libtorch_version", text(facts.libtorch_version)},
          {"cudnn_version", text(facts.cudnn_version)},
          {"compute_capability", text(facts.compute_capability)},
          {"pci_bus_id", text(facts.pci_bus_id)},
          {"uuid", text(facts.uuid)},
          {"pcie",
           {{"generation", whole(facts.pcie_generation)},
            {"width", whole(facts.pcie_width)},
            {"max_generation", whole(facts.max_pcie_generation)},
            {"max_width", whole(facts.max_pcie_width)}}},
          {"persistence_mode", flag(facts.persistence_mode)},
          {"mig", flag(facts.mig_mode)},
          {"environment", environment(facts.environment)}};
}

Json device_reading_json(const DeviceReading& reading) {
  Json json = {{"sm_clock_mhz", number(reading.sm_clock_mhz)},
               {"memory_clock_mhz", number(reading.memory_clock_mhz)},
               {"power_watts", number(reading.power_watts)},
               {"utilization", number(reading.utilization)},
               {"pcie_generation", whole(reading.pcie_generation)},
               {"pcie_width", whole(reading.pcie_width)},
               {"throttled_by", throttled_by(reading.throttling)}};
  const bool known =
      std::any_of(json.begin(), json.end(), [](const Json& j) { return !j.is_null(); });
  return known ? json : Json(nullptr);
}

}  // namespace cachebisect
