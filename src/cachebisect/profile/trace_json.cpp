#include "cachebisect/profile/trace_json.hpp"

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/json_depth.hpp"

namespace cachebisect::profile {
namespace {

/// About 95 years: the sum of three such times fits 64 bits.
constexpr std::int64_t kMostTraceTime = 3'000'000'000'000'000'000;
constexpr double kNanoPerMicro = 1000;
constexpr const char* kTraceBase = "baseTimeNanoseconds";

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::data, "the trace of LibTorch's profiler " + what);
}

bool is_trace_time(const Json& value) {
  constexpr double kMost = static_cast<double>(kMostTraceTime) / kNanoPerMicro;
  return value.is_number() && std::abs(value.get<double>()) <= kMost;
}

template <class Is>
void check_members(const Json& event, std::initializer_list<const char*> keys, const Is& is) {
  for (const char* const key : keys) {
    const auto found = event.find(key);
    if (found != event.end() && !is(*found))
      refuse("has an event with a damaged " + std::string(key));
  }
}

/// What other code takes for granted of an event.
void check_event(const Json& event) {
  if (!event.is_object()) refuse("has an event that is no object");
  check_members(event, {"name", "cat", "ph"}, [](const Json& value) { return value.is_string(); });
  check_members(event, {"ts", "dur"}, is_trace_time);
  check_members(event, {"args"}, [](const Json& value) { return value.is_object(); });
}

bool is_trace_base(const Json& value) {
  const bool fits =
      value.is_number_integer() &&
      (!value.is_number_unsigned() || std::in_range<std::int64_t>(value.get<std::uint64_t>()));
  return fits && value.get<std::int64_t>() >= 0 && value.get<std::int64_t>() <= kMostTraceTime;
}

}  // namespace

Json parse_trace(const std::string& text) {
  if (is_nested_too_deep(text)) refuse("is nested too deep");
  Json trace = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!trace.is_object() || !trace.contains("traceEvents") || !trace["traceEvents"].is_array()) {
    refuse("is not a JSON object with an array traceEvents");
  }
  for (const Json& event : trace["traceEvents"]) check_event(event);
  if (trace.contains(kTraceBase) && !is_trace_base(trace[kTraceBase])) {
    refuse("has a " + std::string(kTraceBase) + " that no clock shows");
  }
  return trace;
}

std::int64_t trace_base(const Json& trace) { return trace.value(kTraceBase, std::int64_t{0}); }

std::int64_t trace_nanoseconds(const Json& microseconds) {
  // LibTorch's have so many digits that a double holds them to half a nanosecond.
  return std::llround(static_cast<long double>(microseconds.get<double>()) *
                      static_cast<long double>(kNanoPerMicro));
}

}  // namespace cachebisect::profile
