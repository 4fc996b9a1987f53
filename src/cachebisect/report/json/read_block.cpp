// A block of a JSON report.
#include <array>

#include "cachebisect/report/json/read_parts.hpp"

namespace cachebisect::read_parts {
namespace {

constexpr std::array kArms{ArmKind::replay, ArmKind::bypass, ArmKind::shadow,
                           ArmKind::live,   ArmKind::null,   ArmKind::unseen};

Arm arm(const JsonValue& value, int stages) {
  Arm a;
  a.kind = value["arm"].one_of(kArms);
  a.boundary = value["boundary"].whole_or(0, 0, stages);
  a.stage = value["stage"].whole_or(0, 0, stages);
  for (const auto& [path, change] : value["overrides"].members()) {
    a.overrides[path] = change.json();
  }
  a.observed = value["observed"].flag_or(true);
  a.rank = value["rank"].whole_or(kAllRanks);
  a.cache_samples = value["cache_samples"].count_or(0);
  return a;
}

std::optional<Throttling> throttled_by(const JsonValue& value) {
  if (value.is_null()) return std::nullopt;
  Throttling causes;
  for (const JsonValue& cause : value.items()) {
    causes.thermal = causes.thermal || cause.text() == "thermal";
    causes.power = causes.power || cause.text() == "power";
  }
  return causes;
}

DeviceReading device_reading(const JsonValue& value) {
  return {.sm_clock_mhz = value["sm_clock_mhz"].optional_number(),
          .memory_clock_mhz = value["memory_clock_mhz"].optional_number(),
          .power_watts = value["power_watts"].optional_number(),
          .utilization = value["utilization"].optional_number(),
          .pcie_generation = value["pcie_generation"].optional_whole(),
          .pcie_width = value["pcie_width"].optional_whole(),
          .throttling = throttled_by(value["throttled_by"])};
}

}  // namespace

BlockRecord block(const JsonValue& value, int stages) {
  BlockRecord record;
  record.round = value["round"].whole_or(0, -1);
  record.super_round = value["super_round"].whole_or(record.round, -1);
  record.arm = arm(value, stages);
  BlockResult& r = record.result;
  r.start_seconds = value["start_seconds"].number_or(0);
  r.warmup_steps = value["warmup_steps"].whole_or(0);
  r.steps = value["steps"].whole_or(0);
  r.samples = value["samples"].count_or(0);
  r.seconds = value["seconds"].amount();
  r.cpu_seconds = value["cpu_seconds"].amount_or_zero();
  r.starved_seconds = value["starved_seconds"].amount_or_zero();
  r.trainer_seconds = value["trainer_seconds"].amount_or_zero();
  r.ready_batches = value["ready_batches"].optional_number();
  r.device_idle_share = value["device_idle_share"].optional_number();
  r.skipped = value["skipped"].count_or(0);
  r.resident_share = value["resident_share"].optional_number();
  r.clock_mhz = value["clock_mhz"].optional_number();
  r.device = device_reading(value["device"]);
  r.is_void = value["void"].flag_or(false);
  return record;
}

}  // namespace cachebisect::read_parts
