#include "cachebisect/profile/trace_json.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"

namespace cachebisect::profile {

Json parse_trace(const std::string& text) {
  Json trace = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (trace.is_object() && trace.contains("traceEvents") && trace["traceEvents"].is_array()) {
    return trace;
  }
  throw Error(ErrorKind::data,
              "the trace of LibTorch's profiler is not a JSON object with an array traceEvents");
}

std::int64_t trace_base(const Json& trace) {
  return trace.value("baseTimeNanoseconds", std::int64_t{0});
}

std::int64_t trace_nanoseconds(const Json& microseconds) {
  // LibTorch's have so many digits that a double holds them to half a nanosecond.
  constexpr long double kNanoPerMicro = 1000;
  return std::llround(static_cast<long double>(microseconds.get<double>()) * kNanoPerMicro);
}

}  // namespace cachebisect::profile
