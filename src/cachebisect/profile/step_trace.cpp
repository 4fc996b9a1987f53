#include "cachebisect/profile/step_trace.hpp"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/profile/trace_json.hpp"

namespace cachebisect::profile {
namespace {

/// The CPU as a value of c10::DeviceType, as the memory events number it.
constexpr int kCpuDevice = 0;

bool is_device_work(const std::string& category) {
  static const std::set<std::string> kinds{"kernel", "gpu_memcpy", "gpu_memset"};
  return kinds.contains(category);
}

/// 0 if there is no such number.
double number_of(const Json& args, const char* key) {
  const auto found = args.find(key);
  return found != args.end() && found->is_number() ? found->get<double>() : 0;
}

std::string device_of(const Json& args) {
  constexpr double kMostDevices = 1e6;
  if (number_of(args, "Device Type") == kCpuDevice) return "CPU";
  const double device = std::clamp(number_of(args, "Device Id"), 0.0, kMostDevices);
  return "GPU " + std::to_string(static_cast<int>(device));
}

void add_memory(const Json& event, StepTrace& trace) {
  const Json& args = event.at("args");
  double& peak = trace.peak_bytes[device_of(args)];
  peak = std::max(peak, number_of(args, "Total Allocated"));
}

TracedCall call_of(const Json& event, std::int64_t base) {
  for (const char* const key : {"ts", "dur", "tid"}) {
    if (event.contains(key)) continue;
    throw Error(ErrorKind::data,
                "the trace of LibTorch's profiler has an event without " + std::string(key));
  }
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
