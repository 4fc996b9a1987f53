#include "cachebisect/replay/job/make_device.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/protocol/device_kind.hpp"

namespace cachebisect {
namespace {

DeviceKind best_kind() { return cuda_device_count() > 0 ? DeviceKind::cuda : DeviceKind::cpu; }

std::shared_ptr<Device> emulated(const PipelineSpec& spec) {
  const EmulateSpec emulate = spec.emulate.value_or(EmulateSpec{});
  return make_emulated_device({.copy_gb_per_s = emulate.copy_gb_per_s,
                               .copy_latency_us = emulate.copy_latency_us,
                               .clock_drop = emulate.clock_drop,
                               .launch_us = emulate.launch_us,
                               .launch_queue = emulate.launch_queue});
}

}  // namespace

std::shared_ptr<Device> make_device(const PipelineSpec& spec) {
  const auto name = parse_device_name(spec.device);
  if (!name) {
    throw Error(ErrorKind::usage,
                "device '" + spec.device + "' is not known; use " + device_names());
  }
  switch (name->kind.value_or(best_kind())) {
    case DeviceKind::cpu:
      return make_cpu_device();
    case DeviceKind::cuda:
      return make_cuda_device(name->ordinal);
    case DeviceKind::emulated:
      return emulated(spec);
  }
  throw Error(ErrorKind::internal, "make_device(): unknown kind of device");
}

}  // namespace cachebisect
