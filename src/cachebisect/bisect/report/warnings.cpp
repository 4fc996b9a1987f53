#include "cachebisect/bisect/report/warnings.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "cachebisect/bisect/report/format.hpp"

namespace cachebisect {
namespace {

constexpr double kUnsteady = 0.005;
constexpr double kDriftWorthSaying = 0.02;
constexpr double kStealWorthSaying = 0.02;
constexpr double kServeWorthSaying = 0.01;
constexpr double kLoadWorthSaying = 0.05;   ///< of the usable CPUs
constexpr double kLeastLoad = 0.1;          ///< CPUs: what any machine does beside
constexpr double kClockWorthSaying = 0.05;  ///< the default of the smallest drop worth naming
constexpr double kThrottleWorthSaying = 0.01;
constexpr double kMemoryStallWorthSaying = 0.01;
constexpr double kWholeCpus = 0.01;  ///< closer to a whole number than this is whole
constexpr double kExpectTolerance = 0.1;
constexpr double kResidentWorthSaying = 0.05;

std::string cpus(double count) { return rate(count) + (count == 1 ? " CPU" : " CPUs"); }

void warn_of_load(std::vector<Warning>& out, const MachineReport& machine) {
  const Noise& noise = machine.noise;
  const double worth = std::max(kLeastLoad, kLoadWorthSaying * machine.usable_cpus);
  if (noise.other_load && *noise.other_load > worth) {
    out.push_back({"other_load",
                   "other processes kept " + cpus(*noise.other_load) +
                       " busy, of those that this one may use, while it measured",
                   "stop them, or measure when they are idle; or read every figure as that of "
                   "this machine with this load"});
  }
  if (noise.frequency_change && *noise.frequency_change > kClockWorthSaying) {
    out.push_back({"frequency",
                   "the CPU clock changed by " + percent(*noise.frequency_change) +
                       " while measuring: work done at one clock is compared with work at another",
                   "fix it (cpupower frequency-set -g performance), let the machine cool, or plug "
                   "the laptop in"});
  }
  if (noise.memory_stall_share && *noise.memory_stall_share > kMemoryStallWorthSaying) {
    out.push_back({"memory_pressure",
                   "programs waited for memory " + percent(*noise.memory_stall_share) +
                       " of the time: pages are swapped or dropped and read again",
                   "give the caches less (--cache-host BYTES), or close other programs"});
  }
}

void warn_of_quota(std::vector<Warning>& out, const MachineReport& machine, int workers) {
  const double usable = machine.usable_cpus;
  const auto& throttled = machine.noise.throttled_share;
  if (throttled && *throttled > kThrottleWorthSaying) {
    out.push_back({"throttled",
                   "the container's quota of " + cpus(usable) + " ran out in " +
                       percent(*throttled) +
                       " of its periods: every thread then stood still, and that time is in the "
                       "figures",
                   "fewer workers (--workers N), or a larger quota"});
  }
  const int threads = workers > 0 ? workers + 1 : 1;
  const bool fractional = std::abs(usable - std::round(usable)) > kWholeCpus;
  if (fractional && threads > usable) {
    const int fitting = std::max(1, static_cast<int>(std::floor(usable)));
    out.push_back(
        {"fractional_cpus",
         "this container may use " + cpus(usable) + ", and " + std::to_string(threads) +
             " threads want to run: they take turns, and the quota stops all of them at once",
         workers > fitting ? "--workers " + std::to_string(fitting) + ", or a quota of whole CPUs"
                           : "a quota of whole CPUs"});
  }
}

void warn_of_unsteadiness(std::vector<Warning>& out, const Noise& noise) {
  const auto& null = noise.null_drop.interval;
  if (null && (null->low > kUnsteady || null->high < -kUnsteady)) {
    out.push_back({"unsteady",
                   "the same boundary measured twice differs by " + percent_range(*null) +
                       ": the machine is too unsteady for small drops",
                   "stop other work on this machine, or give a longer --budget"});
  }
  const auto& drift = noise.drift.interval;
  if (drift && (drift->low > kDriftWorthSaying || drift->high < -kDriftWorthSaying)) {
    out.push_back({"not_stationary",
                   "the live pipeline changed by " + percent_range(*drift) +
                       " in time a sample from the first round to the last: drops hold, as "
                       "neighbours are compared, but no throughput stands for the whole run",
                   "let the job warm up first, or see what grows: memory, files, heat"});
  }
  if (noise.steal_share && *noise.steal_share > kStealWorthSaying) {
    out.push_back({"steal",
                   percent(*noise.steal_share) + " of the CPU time was taken by the hypervisor",
                   "measure on a machine of your own, or again at another time"});
  }
}

void warn_of_suspension(std::vector<Warning>& out, const Measured& measured) {
  if (measured.runner.void_blocks() == 0) return;
  out.push_back({"suspended",
                 "the process was suspended in " + std::to_string(measured.runner.void_blocks()) +
                     " blocks; they were repeated",
                 "do not stop or freeze the process while it measures"});
}

void warn_of_job(std::vector<Warning>& out, const Report& report, const BisectOptions& options) {
  const auto& live = report.live.value;
  if (options.expect_samples_per_second && live) {
    const double expected = *options.expect_samples_per_second;
    const Interval range = report.live.interval.value_or(Interval{*live, *live});
    const bool slower = range.high < (1 - kExpectTolerance) * expected;
    const bool faster = range.low > (1 + kExpectTolerance) * expected;
    if (slower || faster) {
      out.push_back({"not_your_job",
                     "live throughput here is " + rate(*live) + " samples/s, " +
                         percent(std::abs(*live / expected - 1)) +
                         (slower ? " below the " : " above the ") + rate(expected) + " expected (" +
                         percent(kExpectTolerance) +
                         " would pass): this may not be the job that is to be explained",
                     "bring batch size, workers, device and data of the pipeline file in line "
                     "with the job"});
    }
  }
  if (!report.chain.weights_restored) {
    out.push_back({"weights_not_restored",
                   "the training step cannot restore its weights: they train on through all "
                   "rounds",
                   "implement snapshot() and restore() of the step"});
  }
  std::string skipping;
  for (const StageDescription& stage : report.chain.stages) {
    if (!stage.stateful && !stage.side_effects) continue;
    skipping += (skipping.empty() ? "" : ", ") + stage.name;
  }
  if (!skipping.empty()) {
    out.push_back({"side_effects",
                   "stages with state or side effects do not run when a later boundary is "
                   "replayed: " +
                       skipping,
                   "read the drops beside them with care"});
  }
}

void warn_of_cache(std::vector<Warning>& out, const Report& report) {
  if (report.cache.limited_by == "host budget" || report.cache.limited_by == "device budget") {
    const bool host = report.cache.limited_by == "host budget";
    out.push_back({"small_cache",
                   "the cache holds only " + std::to_string(report.cache.samples) +
                       " samples (limited by the " + report.cache.limited_by +
                       "): replays may run from the processor's cache and look too fast",
                   host ? "--cache-host BYTES" : "--cache-device BYTES"});
  }
  const int workers = report.chain.workers > 0 ? report.chain.workers : 1;
  for (const BoundaryReport& boundary : report.boundaries) {
    if (!boundary.serve_seconds_per_sample || !boundary.seconds_per_sample) continue;
    const double share =
        *boundary.serve_seconds_per_sample / workers / *boundary.seconds_per_sample;
    if (share <= kServeWorthSaying) continue;
    out.push_back({"serving_cost",
                   "serving samples from the cache after " + boundary.after + " takes " +
                       percent(share) + " of that boundary's time",
                   "the drop at " + boundary.after + " is larger than shown by up to that much"});
  }
}

/// Mean over the blocks where it is known.
std::optional<double> resident_share(const std::vector<BlockRecord>& records) {
  double sum = 0;
  int known = 0;
  for (const BlockRecord& record : records) {
    if (!record.result.resident_share) continue;
    sum += *record.result.resident_share;
    ++known;
  }
  return known > 0 ? std::optional(sum / known) : std::nullopt;
}

void warn_of_reading(std::vector<Warning>& out, const Measured& measured,
                     const BisectOptions& options) {
  if (options.io != "cold") return;
  const auto share = resident_share(measured.runner.records());
  if (!share || *share <= kResidentWorthSaying) return;
  out.push_back({"not_cold",
                 percent(*share) +
                     " of the pages that live blocks read were in memory after they had been "
                     "evicted: reading was not as cold as --io cold asks for",
                 "move the data off tmpfs or an overlay, stop other programs that read it, or read "
                 "the figures as --io as-is"});
}

}  // namespace

std::vector<Warning> find_machine_warnings(const MachineReport& machine, int workers) {
  std::vector<Warning> out;
  warn_of_unsteadiness(out, machine.noise);
  warn_of_load(out, machine);
  warn_of_quota(out, machine, workers);
  return out;
}

std::vector<Warning> find_warnings(const Report& report, const Measured& measured,
                                   const BisectOptions& options) {
  std::vector<Warning> out = find_machine_warnings(report.machine, report.chain.workers);
  warn_of_suspension(out, measured);
  warn_of_job(out, report, options);
  warn_of_cache(out, report);
  warn_of_reading(out, measured, options);
  if (report.skipped > 0) {
    out.push_back({"skipped",
                   std::to_string(report.skipped) + " damaged samples were skipped and replaced",
                   report.first_skipped.empty() ? "check the data" : report.first_skipped.front()});
  }
  return out;
}

}  // namespace cachebisect
