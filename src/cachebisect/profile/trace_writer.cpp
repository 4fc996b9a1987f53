#include "cachebisect/profile/trace_writer.hpp"

#include <algorithm>
#include <cstdint>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "cachebisect/format/trace_events.hpp"
#include "cachebisect/profile/cycle_tracks.hpp"
#include "cachebisect/profile/trace_json.hpp"
#include "cachebisect/report/json/trace_facts.hpp"

namespace cachebisect::profile {
namespace {

/// LibTorch records a little before the first step. Perfetto refuses times below 0, so what began
/// there begins at 0.
void set_time(Json& event, std::int64_t shift) {
  const std::int64_t at = trace_nanoseconds(event["ts"]) + shift;
  event["ts"] = trace_microseconds(std::max<std::int64_t>(at, 0));
  if (at >= 0 || !event.contains("dur")) return;
  event["dur"] =
      trace_microseconds(std::max<std::int64_t>(trace_nanoseconds(event["dur"]) + at, 0));
}

/// Readers expect args in every slice, and one clock for all events.
void append_all(TraceEvents& to, const Json& trace, std::int64_t base) {
  for (Json event : trace.at("traceEvents")) {
    if (event.value("ph", "") == "X" && !event.contains("args")) event["args"] = Json::object();
    if (event.contains("ts")) set_time(event, trace_base(trace) - base);
    to.append(event);
  }
}

/// What LibTorch's trace says of itself and the GPU, but not where it was written or logged.
Json header_of(const Profile& profile, Json first, std::int64_t base) {
  for (const char* const key : {"traceEvents", "traceName", "ERROR", "WARNING", "INFO"}) {
    first.erase(key);
  }
  if (!first.contains("schemaVersion")) first["schemaVersion"] = 1;
  first["displayTimeUnit"] = "ms";
  first["baseTimeNanoseconds"] = base;
  first["cachebisect"] = trace_facts(profile.chain);
  first["cachebisect"]["dropped_events"] = profile.dropped;
  return first;
}

}  // namespace

std::string trace_json(const Profile& profile) {
  Json header = Json::object();
  std::int64_t base = 0;
  if (!profile.recorded.empty()) {
    const Cycle& first = profile.recorded.front();
    base = system_time(first, first.begin);
    if (!first.step_trace.empty()) header = parse_trace(first.step_trace);
  }
  TraceEvents trace(base, getpid());  // LibTorch's events are of this process too
  name_tracks(trace, profile.chain);
  for (const Cycle& cycle : profile.recorded) {
    add_tracks(trace, cycle, profile.chain);
    if (!cycle.step_trace.empty()) append_all(trace, parse_trace(cycle.step_trace), base);
  }
  return trace.to_text(header_of(profile, std::move(header), base));
}

}  // namespace cachebisect::profile
