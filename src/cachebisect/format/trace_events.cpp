#include "cachebisect/format/trace_events.hpp"

#include <nlohmann/json.hpp>

namespace cachebisect {
namespace {

/// Bytes that are not UTF-8 become U+FFFD.
std::string event_text(const TraceEvents::Json& json) {
  return json.dump(-1, ' ', false, TraceEvents::Json::error_handler_t::replace);
}

}  // namespace

void TraceEvents::append(const Json& event) {
  if (!events_.empty()) events_ += ",\n";
  events_ += event_text(event);
}

void TraceEvents::name_process(std::string_view name) {
  append_metadata(0, "process_name", {{"name", name}});
}

void TraceEvents::name_track(std::int64_t track, std::string_view name) {
  append_metadata(track, "thread_name", {{"name", name}});
  append_metadata(track, "thread_sort_index", {{"sort_index", track}});
}

void TraceEvents::append_metadata(std::int64_t track, std::string_view kind, const Json& args) {
  append(
      {{"ph", "M"}, {"name", kind}, {"pid", process_}, {"tid", track}, {"ts", 0}, {"args", args}});
}

void TraceEvents::slice(std::int64_t track, std::string_view name, std::string_view category,
                        std::int64_t begin, std::int64_t end, const Json& args) {
  append({{"ph", "X"},
          {"cat", category},
          {"name", name},
          {"pid", process_},
          {"tid", track},
          {"ts", trace_microseconds(begin - base_)},
          {"dur", trace_microseconds(end - begin)},
          {"args", args}});
}

void TraceEvents::counter(std::string_view name, std::string_view series, std::int64_t at,
                          std::int64_t value) {
  append({{"ph", "C"},
          {"name", name},
          {"pid", process_},
          {"tid", 0},
          {"ts", trace_microseconds(at - base_)},
          {"args", {{series, value}}}});
}

std::string TraceEvents::to_text(const Json& header) const {
  std::string text = "{\n";
  for (const auto& [key, value] : header.items()) {
    text += event_text(key) + ": " + event_text(value) + ",\n";
  }
  return text + "\"traceEvents\": [\n" + events_ + "\n]\n}\n";
}

double trace_microseconds(std::int64_t nanoseconds) noexcept {
  return static_cast<double>(nanoseconds) / 1e3;
}

}  // namespace cachebisect
