#include "cachebisect/simulate/simulated_chain.hpp"

#include "cachebisect/base/error.hpp"

namespace cachebisect {

const char* to_string(CostKind kind) noexcept {
  switch (kind) {
    case CostKind::cpu:
      return "cpu";
    case CostKind::wait:
      return "wait";
    case CostKind::lock:
      return "lock";
    case CostKind::memory:
      return "memory";
    case CostKind::payload:
      return "payload";
  }
  return "unknown";
}

double SimulatedChain::copy_seconds() const noexcept {
  if (device_is_host) return 0;
  double bytes = source_bytes;
  for (const auto& stage : stages) {
    if (stage.kind == CostKind::payload) bytes = stage.bytes;
  }
  return copy_latency_seconds + bytes * static_cast<double>(batch_size) / copy_bytes_per_second;
}

namespace {

void check(const SimulatedChain& chain) {
  const auto refuse = [](const std::string& what) {
    throw Error(ErrorKind::usage, "simulated chain: " + what);
  };
  if (chain.stages.empty()) refuse("it needs stages; the first is the source");
  if (chain.batch_size < 1) refuse("batch_size must be at least 1");
  if (chain.workers < 0) refuse("workers must not be negative");
  if (chain.cores < 1) refuse("cores must be at least 1");
  if (chain.step_seconds < 0 || chain.trainer_seconds < 0 ||
      chain.step_seconds + chain.trainer_seconds <= 0) {
    refuse("a step must cost something: step_seconds or trainer_seconds above 0");
  }
  if (chain.step_period < 1 || chain.update_seconds < 0) {
    refuse("an optimizer step takes one batch or more, and no less than no time");
  }
  for (const auto& stage : chain.stages) {
    if (!(stage.seconds >= 0)) refuse("stage " + stage.name + ": seconds must not be negative");
  }
}

}  // namespace

ChainDescription describe(const SimulatedChain& chain) {
  check(chain);
  ChainDescription result;
  result.name = "simulated";
  double bytes = chain.source_bytes;
  for (const auto& stage : chain.stages) {
    StageDescription description;
    description.name = stage.name;
    description.type = std::string(to_string(stage.category)) + "." + to_string(stage.kind);
    description.category = stage.category;
    description.kind = result.stages.empty() ? StageKind::source : StageKind::sample;
    if (stage.kind == CostKind::payload) bytes = stage.bytes;
    description.output_bytes = bytes;
    result.stages.push_back(std::move(description));
  }
  result.stages.push_back({.name = "collate",
                           .type = "collate.stack",
                           .category = Category::collate,
                           .kind = StageKind::collate,
                           .output_bytes = bytes,
                           .held = Held::host});
  result.stages.push_back({.name = "copy",
                           .type = "copy.device",
                           .category = Category::copy,
                           .kind = StageKind::copy,
                           .output_bytes = bytes,
                           .held = Held::device});
  result.batch_size = chain.batch_size;
  result.batches_per_step = chain.step_period;
  result.workers = chain.workers;
  result.loader = chain.loader;
  result.ring_prefetch = chain.ring_prefetch;
  result.ring_slots = chain.workers + chain.ring_prefetch + 1;
  result.samples = chain.samples;
  result.generated_data = true;
  result.train = "simulated";
  result.copy_pinned = true;
  result.copy_non_blocking = chain.copy_non_blocking;
  result.copy_prefetch = chain.copy_prefetch;
  result.device_kind = chain.device_is_host ? DeviceKind::cpu : DeviceKind::emulated;
  result.device_name = "simulated";
  result.usable_cpus = chain.cores;
  if (!chain.device_is_host) result.copy_gb_per_s = chain.copy_bytes_per_second / 1e9;
  return result;
}

}  // namespace cachebisect
