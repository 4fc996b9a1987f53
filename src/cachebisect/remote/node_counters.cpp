#include "cachebisect/remote/node_counters.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "cachebisect/base/fields.hpp"
#include "cachebisect/format/json_writer.hpp"
#include "cachebisect/remote/fields.hpp"
#include "cachebisect/remote/message_reader.hpp"

namespace cachebisect {

using nlohmann::json;

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, CpuTimes>& times) {
  v.count({"total"}, times.total);
  v.count({"steal"}, times.steal);
  v.count({"busy"}, times.busy);
  v.whole({"cpus"}, times.cpus);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, MachineReading>& counters) {
  v.amount({"seconds"}, counters.seconds);
  v.amount({"own_cpu_seconds"}, counters.own_cpu_seconds);
  v.part({"cpu_ticks"}, counters.times);
  v.amount({"ticks_per_second"}, counters.ticks_per_second);
  v.number({"clock_mhz"}, counters.clock_mhz);
  v.flag({"clock_measured"}, counters.clock_measured);
  v.number({"quota_periods"}, counters.quota_periods);
  v.number({"throttled_periods"}, counters.throttled_periods);
  v.number({"quota_period_seconds"}, counters.quota_period_seconds);
  v.number({"quota_cpus"}, counters.quota_cpus);
  v.number({"memory_stall_seconds"}, counters.memory_stall_seconds);
}

double own_cpu_seconds_of(const std::vector<json>& answers) {
  double seconds = 0;
  for (const json& answer : answers) {
    const Fields fields(answer, "the answer to 'machine'");
    if (fields.has("own_cpu_seconds")) seconds += fields.amount("own_cpu_seconds");
  }
  return seconds;
}

json counters_json(const MachineReading& counters) {
  JsonWriter writer;
  fields(writer, counters);
  json object = writer.json();
  return {{"counters", std::move(object)}};
}

std::optional<MachineReading> read_counters(const json& answer) {
  const Fields message(answer, "the answer to 'ask'");
  if (!message.has("counters")) return std::nullopt;
  const Fields object = message.object("counters");
  MachineReading counters;
  MessageReader reader(object);
  fields(reader, counters);
  if (!(counters.ticks_per_second > 0)) object.refuse("ticks_per_second", "a number above 0");
  return counters;
}

}  // namespace cachebisect
