#include "cachebisect/profile/step_trace.hpp"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "cachebisect/profile/trace_json.hpp"

namespace cachebisect::profile {
namespace {

/// The CPU as a value of c10::DeviceType, as the memory events number it.
constexpr int kCpuDevice = 0;

bool is_device_work(const std::string& category) {
  static const std::set<std::string> kinds{"kernel", "gpu_memcpy", "gpu_memset"};
  return kinds.contains(category);
}

std::string device_of(const Json& args) {
  if (args.value("Device Type", kCpuDevice) == kCpuDevice) return "CPU";
  return "GPU " + std::to_string(args.value("Device Id", 0));
}

void add_memory(const Json& event, StepTrace& trace) {
  const Json& args = event.at("args");
  double& peak = trace.peak_bytes[device_of(args)];
  peak = std::max(peak, args.value("Total Allocated", 0.0));
}

TracedCall call_of(const Json& event, std::int64_t base) {
  const std::int64_t begin = base + trace_nanoseconds(event.at("ts"));
  const Json& thread = event.at("tid");
  return {event.value("name", ""), thread.is_number_integer() ? thread.get<std::int64_t>() : 0,
          begin, begin + trace_nanoseconds(event.at("dur"))};
}

void add(const Json& event, std::int64_t base, StepTrace& trace) {
  const std::string category = event.value("cat", "");
  if (event.value("name", "") == "[memory]" && event.contains("args")) {
    add_memory(event, trace);
  } else if (event.value("ph", "") != "X") {
    return;
  } else if (category == "cpu_op") {
    trace.operators.push_back(call_of(event, base));
  } else if (is_device_work(category)) {
    trace.device_work.push_back(call_of(event, base));
    trace.device_work.back().is_copy =
        category == "gpu_memcpy" && trace.device_work.back().name.find("HtoD") != std::string::npos;
  }
}

}  // namespace

StepTrace read_step_trace(const std::string& json) {
  const Json whole = parse_trace(json);
  const std::int64_t base = trace_base(whole);
  StepTrace trace;
  for (const Json& event : whole.at("traceEvents")) add(event, base, trace);
  std::sort(trace.operators.begin(), trace.operators.end(),
            [](const TracedCall& a, const TracedCall& b) {
              if (a.thread != b.thread) return a.thread < b.thread;
              return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
            });
  return trace;
}

}  // namespace cachebisect::profile
