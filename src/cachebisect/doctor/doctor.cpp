#include "cachebisect/doctor/doctor.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/statistics.hpp"
#include "cachebisect/bisect/advice/warnings.hpp"
#include "cachebisect/bisect/analysis/machine_report.hpp"
#include "cachebisect/bisect/evidence/confidence_sequence.hpp"
#include "cachebisect/doctor/bandwidth_probe.hpp"
#include "cachebisect/doctor/noise_probe.hpp"
#include "cachebisect/replay/loop/tool_cost.hpp"

namespace cachebisect {
namespace {

/// Shares of the measuring time; the rest goes to bandwidth, timers and files.
constexpr double kNoiseShare = 0.7;
constexpr double kFloorShare = 0.1;
/// Sample stages of the null pipeline, including the source: as many as a common chain has.
constexpr std::size_t kSampleStages = 4;

/// Takes about a tenth of a second.
TimerLateness measure_timers() {
  constexpr int kSleeps = 400;
  constexpr double kSleepSeconds = 200e-6;
  std::vector<double> late;
  late.reserve(kSleeps);
  for (int i = 0; i < kSleeps; ++i) {
    const double deadline = monotonic_seconds() + kSleepSeconds;
    sleep_until(deadline);
    late.push_back(monotonic_seconds() - deadline);
  }
  return {.median_seconds = median(late), .p99_seconds = quantile(late, 0.99)};
}

/// The cpu takes no planted step.
std::string noise_device(const DeviceInfo& device) {
  return device.kind == DeviceKind::cuda ? "cuda:" + std::to_string(device.ordinal) : "emulated";
}

void judge_noise(Diagnosis& diagnosis, const NoiseTrace& trace) {
  Noise& noise = diagnosis.machine.noise;
  noise.block_cv = coefficient_of_variation(trace.block_taus);
  noise.null_drop.value = theta_to_drop(median(trace.differences));
  const double confidence = diagnosis.trust_options.confidence;
  if (const auto interval = median_interval(trace.differences, confidence)) {
    noise.null_drop.interval =
        Interval{theta_to_drop(interval->low), theta_to_drop(interval->high)};
  }
  diagnosis.pairs = trace.differences.size();
  std::vector<double> sizes;
  for (const double d : trace.differences) sizes.push_back(std::expm1(std::abs(d)));
  diagnosis.neighbour_difference = median(sizes);
  diagnosis.trust_options.block_seconds = trace.block_seconds;
  diagnosis.trust = trust_in(trace.differences, diagnosis.trust_options);
}

}  // namespace

Diagnosis diagnose(Device& device, const DoctorOptions& options, const std::stop_token& stop) {
  Diagnosis diagnosis;
  const MachineInfo machine = probe_machine();
  diagnosis.device = device.info();
  diagnosis.trust_options.budget_seconds = options.budget_seconds;
  MachineWatch watch;
  const NoiseTrace trace = measure_noise(kNoiseShare * options.seconds, machine.usable_cpus,
                                         noise_device(device.info()), watch, stop);
  diagnosis.machine = describe_machine(machine, watch.seen());
  judge_noise(diagnosis, trace);
  const ToolCost cost =
      measure_inline_cost(device, kSampleStages, kFloorShare * options.seconds, stop);
  diagnosis.machine.floor = {.ns_per_sample = 1e9 * cost.seconds_per_sample,
                             .us_per_batch = 1e6 * cost.seconds_per_batch};
  constexpr double kMaxThreads = 256;
  diagnosis.memory_threads =
      static_cast<int>(std::clamp(std::ceil(machine.usable_cpus), 1.0, kMaxThreads));
  diagnosis.memory_gb_per_s = memory_gb_per_s(1, machine, stop);
  diagnosis.memory_all_gb_per_s = diagnosis.memory_threads > 1
                                      ? memory_gb_per_s(diagnosis.memory_threads, machine, stop)
                                      : diagnosis.memory_gb_per_s;
  diagnosis.copy_gb_per_s = copy_gb_per_s(device, stop);
  diagnosis.timers = measure_timers();
  if (!options.folder.empty()) diagnosis.page_cache = probe_page_cache(options.folder);
  if (options.storage && diagnosis.page_cache) {
    const bool evicts = diagnosis.page_cache->eviction_works().value_or(false);
    diagnosis.storage = probe_storage({.folder = options.folder, .evicts = evicts}, stop);
  }
  if (!options.urls.empty()) {
    diagnosis.server = probe_urls({.urls = options.urls, .seconds = options.seconds}, stop);
  }
  diagnosis.warnings = find_machine_warnings(diagnosis.machine, diagnosis.memory_threads);
  return diagnosis;
}

}  // namespace cachebisect
