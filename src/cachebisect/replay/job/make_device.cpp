#include <charconv>
#include <string>
#include <string_view>

#include "cachebisect/base/error.hpp"
#include "cachebisect/replay/pipeline_replayer.hpp"

namespace cachebisect {
namespace {

constexpr std::string_view kCuda = "cuda";

int cuda_ordinal(const std::string& name) {
  if (name == kCuda) return 0;
  const char* first = name.data() + kCuda.size() + 1;
  const char* last = name.data() + name.size();
  int ordinal = -1;
  if (name[kCuda.size()] == ':') {
    const auto [end, failure] = std::from_chars(first, last, ordinal);
    if (failure == std::errc{} && end == last && ordinal >= 0) return ordinal;
  }
  throw Error(ErrorKind::usage, "device '" + name + "' is not known; use cuda or cuda:N, N from 0");
}

std::shared_ptr<Device> emulated(const PipelineSpec& spec) {
  const EmulateSpec emulate = spec.emulate.value_or(EmulateSpec{});
  return make_emulated_device({emulate.copy_gb_per_s, emulate.copy_latency_us});
}

}  // namespace

std::shared_ptr<Device> make_device(const PipelineSpec& spec) {
  const std::string& name = spec.device;
  if (name == "auto") return cuda_device_count() > 0 ? make_cuda_device(0) : make_cpu_device();
  if (name == "cpu") return make_cpu_device();
  if (name == "emulated") return emulated(spec);
  if (name.starts_with(kCuda)) return make_cuda_device(cuda_ordinal(name));
  throw Error(ErrorKind::usage,
              "device '" + name + "' is not known; use auto, cpu, cuda, cuda:N or emulated");
}

}  // namespace cachebisect
