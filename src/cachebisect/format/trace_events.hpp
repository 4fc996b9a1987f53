// The events of a Chrome trace, as Perfetto, HolisticTraceAnalysis and TensorBoard read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "cachebisect/format/json_values.hpp"

namespace cachebisect {

/// Slices of one track must nest; every slice has args. Names may hold any bytes. Not thread safe.
class TraceEvents {
 public:
  using Json = json_values::Json;

  /// All times are nanoseconds of one clock; those of the trace begin at `base`. All tracks are of
  /// the process `process`.
  TraceEvents(std::int64_t base, std::int64_t process) : base_(base), process_(process) {}

  void name_process(std::string_view name);
  /// Tracks are shown in the order of their numbers.
  void name_track(std::int64_t track, std::string_view name);
  void slice(std::int64_t track, std::string_view name, std::string_view category,
             std::int64_t begin, std::int64_t end, const Json& args);
  void counter(std::string_view name, std::string_view series, std::int64_t at, std::int64_t value);
  /// An event of another trace, as it is.
  void append(const Json& event);

  /// The whole trace, with the members of `header`.
  [[nodiscard]] std::string to_text(const Json& header) const;

 private:
  void append_metadata(std::int64_t track, std::string_view kind, const Json& args);

  std::int64_t base_;
  std::int64_t process_;
  std::string events_;
};

/// As a trace has it.
[[nodiscard]] double trace_microseconds(std::int64_t nanoseconds) noexcept;

}  // namespace cachebisect
