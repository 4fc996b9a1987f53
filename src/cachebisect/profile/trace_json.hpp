// A Chrome trace as JSON, from text that a library wrote.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "cachebisect/format/json_values.hpp"

namespace cachebisect::profile {

using json_values::Json;

/// An object with an array traceEvents, each an object with names that are texts and times that a
/// clock can show. Throws Error(data) for any other text.
[[nodiscard]] Json parse_trace(const std::string& text);
/// Nanoseconds of the system clock at which its microseconds begin; 0 if it does not say.
[[nodiscard]] std::int64_t trace_base(const Json& trace);
/// A time or duration of a trace, which is in microseconds, to the nanosecond.
[[nodiscard]] std::int64_t trace_nanoseconds(const Json& microseconds);

}  // namespace cachebisect::profile
