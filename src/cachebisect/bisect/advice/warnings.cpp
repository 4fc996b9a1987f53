#include "cachebisect/bisect/advice/warnings.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "cachebisect/base/machine.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/advice/clock_warning.hpp"
#include "cachebisect/bisect/advice/node_warnings.hpp"
#include "cachebisect/bisect/advice/process_warnings.hpp"
#include "cachebisect/bisect/advice/worker_search_warning.hpp"
#include "cachebisect/bisect/analysis/reading.hpp"
#include "cachebisect/bisect/record/bars.hpp"
#include "cachebisect/protocol/job_setting_text.hpp"

namespace cachebisect {
namespace {

constexpr double kMinLoad = 0.1;     ///< CPUs: background activity of any machine
constexpr double kWholeCpus = 0.01;  ///< closer to a whole number than this is whole

void warn_of_load(std::vector<Warning>& out, const MachineReport& machine) {
  const Noise& noise = machine.noise;
  if (noise.other_load && *noise.other_load > load_worth_a_warning(machine.usable_cpus)) {
    out.push_back({"other_load",
                   "other processes kept " + cpus_text(*noise.other_load) +
                       " busy, of those that this one may use, while it measured",
                   "stop them, or measure when they are idle; or read every figure as that of "
                   "this machine with this load"});
  }
  if (noise.frequency_change && *noise.frequency_change > kReportAbove) {
    out.push_back({"frequency",
                   "the CPU clock changed by " + percent(*noise.frequency_change) +
                       " while measuring: work done at one clock is compared with work at another",
                   "fix it (cpupower frequency-set -g performance), let the machine cool, or plug "
                   "the laptop in"});
  }
  if (noise.memory_stall_share && *noise.memory_stall_share > kNegligible) {
    out.push_back({"memory_pressure",
                   "programs waited for memory " + percent(*noise.memory_stall_share) +
                       " of the time: pages are swapped or dropped and read again",
                   "give the caches less (--cache-host BYTES), or close other programs"});
  }
}

void warn_of_quota(std::vector<Warning>& out, const MachineReport& machine, int workers,
                   const JobSettings& settings) {
  const double usable = machine.usable_cpus;
  const auto& throttled = machine.noise.throttled_share;
  if (throttled && *throttled > kNegligible) {
    out.push_back(
        {"throttled",
         "the container's quota of " + cpus_text(usable) + " ran out in " + percent(*throttled) +
             " of its periods: every thread then stood still, and that time is in the "
             "figures",
         "fewer workers (" + setting_text(settings, "workers", "N") + "), or a larger quota"});
  }
  const int threads = workers > 0 ? workers + 1 : 1;
  const bool fractional = std::abs(usable - std::round(usable)) > kWholeCpus;
  if (fractional && threads > usable) {
    const int fitting = whole_cpus(usable);
    out.push_back(
        {"fractional_cpus",
         "this container may use " + cpus_text(usable) + ", and " + std::to_string(threads) +
             " threads want to run: they take turns, and the quota stops all of them at once",
         workers > fitting ? setting_text(settings, "workers", std::to_string(fitting)) +
                                 ", or a quota of whole CPUs"
                           : "a quota of whole CPUs"});
  }
}

void warn_of_unsteadiness(std::vector<Warning>& out, const Noise& noise) {
  const auto& null = noise.null_drop.interval;
  if (null && (null->low > kFine || null->high < -kFine)) {
    out.push_back({"unsteady",
                   "the same boundary measured twice differs by " + percent_range(*null) +
                       ": the machine is too unsteady for small drops",
                   "stop other work on this machine, or give a longer --budget"});
  }
  const auto& drift = noise.drift.interval;
  if (drift && (drift->low > kNegligible || drift->high < -kNegligible)) {
    out.push_back(
        {"not_stationary",
         "the live pipeline changed by " + percent_range(*drift) +
             " in seconds per sample from the first round to the last: drops hold, as "
             "blocks of the same round are compared, but no throughput stands for the whole run",
         "let the job warm up first, or see what grows: memory, files, heat"});
  }
  if (noise.steal_share && *noise.steal_share > kNegligible) {
    out.push_back({"steal",
                   percent(*noise.steal_share) + " of the CPU time was taken by the hypervisor",
                   "measure on a machine of your own, or again at another time"});
  }
}

void warn_of_suspension(std::vector<Warning>& out, const std::vector<BlockRecord>& records) {
  const auto suspended = std::count_if(records.begin(), records.end(),
                                       [](const BlockRecord& r) { return r.was_suspended(); });
  if (suspended == 0) return;
  out.push_back(
      {"suspended",
       "the process was suspended in " + std::to_string(suspended) + " blocks; they were repeated",
       "do not stop or freeze the process while it measures"});
}

void warn_of_other_job(std::vector<Warning>& out, const Measurements& measured,
                       const Estimate& live) {
  const auto& asked = measured.questions.expect_samples_per_second;
  if (!asked || !live.value) return;
  const double expected = *asked;
  const Interval range = live.interval.value_or(Interval{*live.value, *live.value});
  const bool slower = range.high < (1 - kOtherJob) * expected;
  const bool faster = range.low > (1 + kOtherJob) * expected;
  if (!slower && !faster) return;
  out.push_back({"not_your_job",
                 "live throughput here is " + rate(*live.value) + " samples/s, " +
                     percent(std::abs(*live.value / expected - 1)) +
                     (slower ? " below the " : " above the ") + rate(expected) + " expected (" +
                     percent(kOtherJob) +
                     " would pass): this may not be the job that is to be explained",
                 measured.chain.settings.of_file
                     ? "bring batch size, workers, device and data of the pipeline file in line "
                       "with the job"
                     : "measure again while nothing else runs, and with a step that takes the same "
                       "time whatever the batch; figures that differ again are those of another "
                       "job"});
}

void warn_of_chain(std::vector<Warning>& out, const ChainDescription& chain) {
  if (!chain.weights_restored) {
    out.push_back({"weights_not_restored",
                   "the training step cannot restore its weights: they train on through all "
                   "rounds",
                   chain.settings.advice_or("weights_not_restored",
                                            "implement snapshot() and restore() of the step")});
  }
  std::string skipping;
  for (const StageDescription& stage : chain.stages) {
    if (!stage.stateful && !stage.side_effects) continue;
    skipping += (skipping.empty() ? "" : ", ") + stage.name;
  }
  if (!skipping.empty()) {
    out.push_back({"side_effects",
                   "stages with state or side effects do not run when a later boundary is "
                   "replayed: " +
                       skipping,
                   "interpret the drops next to them with care"});
  }
}

void warn_of_full_caches(std::vector<Warning>& out, const ChainDescription& chain) {
  for (const StageDescription& stage : chain.stages) {
    if (!stage.cache || !stage.cache->full || chain.samples == 0) continue;
    const CacheUse& use = *stage.cache;
    const auto kept = static_cast<double>(use.samples);
    const auto samples = static_cast<double>(chain.samples);
    // Of few samples, most of the bytes are tables for all of them.
    std::string all;
    if (kept > kNegligible * samples) {
      all = "all of them take about " +
            format_bytes(static_cast<double>(use.bytes) / kept * samples) + ": ";
    }
    out.push_back({"cache_full",
                   stage.name + " holds " + percent(kept / samples) +
                       " of the samples: its limit of " +
                       format_bytes(static_cast<double>(use.limit_bytes)) + " is reached",
                   all + "raise limit_gb as far as memory allows"});
  }
}

/// What the workers do is seen only in a row that is certainly below the ceiling.
bool is_limited_by_loading(const BoundaryReport& boundary, const Waterfall& waterfall) {
  const auto& row = boundary.samples_per_second.interval;
  const auto& ceiling = waterfall.ceiling.value;
  return row && ceiling && row->high < *ceiling;
}

void warn_of_cache(std::vector<Warning>& out, const Measurements& measured,
                   const Waterfall& waterfall) {
  const CacheFacts& cache = measured.cache;
  const std::map<std::string, std::string> remedies{
      {"host budget", "--cache-host BYTES"},
      {"available host memory", "lower batch_size, or close other programs"},
      {"device budget", "--cache-device BYTES"}};
  if (const auto remedy = remedies.find(cache.limited_by); remedy != remedies.end()) {
    out.push_back({"small_cache",
                   "the cache holds only " + std::to_string(cache.samples) +
                       " samples (limited by the " + cache.limited_by +
                       "): replays may run from the processor's cache and look too fast",
                   remedy->second});
  }
  const int workers = measured.chain.workers > 0 ? measured.chain.workers : 1;
  for (const BoundaryReport& boundary : waterfall.boundaries) {
    if (!boundary.serve_seconds_per_sample || !boundary.seconds_per_sample) continue;
    const double share =
        *boundary.serve_seconds_per_sample / workers / *boundary.seconds_per_sample;
    if (share <= kNegligible || !is_limited_by_loading(boundary, waterfall)) continue;
    out.push_back({"serving_cost",
                   "serving samples from the cache after " + boundary.after + " takes " +
                       percent(share) + " of that boundary's time",
                   "the drop at " + boundary.after + " is larger than shown by up to that much"});
  }
}

void warn_of_small_cache(std::vector<Warning>& out, const Estimate& larger) {
  if (!larger.interval) return;
  // The cache is too small if seconds per sample change from K to 2K.
  const bool slower = larger.interval->low > kNegligible;
  if (!slower && larger.interval->high >= -kNegligible) return;
  out.push_back({"cache_too_small",
                 "served from twice as many cached samples, a step takes " +
                     percent(std::abs(*larger.value)) +
                     (slower ? " longer: replays from the cache look too fast"
                             : " less time: that many samples vary too much"),
                 "give the caches more room: --cache-host BYTES"});
}

void warn_of_probes(std::vector<Warning>& out, const Estimate& overhead) {
  if (!overhead.interval || overhead.interval->low <= kFine) return;
  out.push_back(
      {"overhead",
       "the inline probes cost " + percent_range(*overhead.interval) + " of the live throughput",
       "the live figure is too low by that much"});
}

void warn_of_fault(std::vector<Warning>& out, const std::string& fault) {
  if (fault.empty()) return;
  out.push_back({"not_explained", "after the verdict, the rounds that explain it failed: " + fault,
                 "the verdict is that of the rounds before"});
}

void warn_of_failure(std::vector<Warning>& out, const std::optional<RunFault>& fault) {
  if (!fault) return;
  out.push_back({"run_failed", "after the verdict, the run ended early: " + fault->what,
                 "the verdict is that of the rounds before", fault->details});
}

void warn_of_skipping(std::vector<Warning>& out, const std::vector<BlockRecord>& records) {
  const SkippedSamples skipped = skipped_samples(records);
  if (skipped.count == 0) return;
  out.push_back({"skipped",
                 std::to_string(skipped.count) + " damaged samples were skipped and replaced",
                 skipped.first.empty() ? "check the data" : skipped.first.front()});
}

}  // namespace

double load_worth_a_warning(double usable_cpus) {
  return std::max(kMinLoad, kReportAbove * usable_cpus);
}

std::string cpus_text(double count) { return rate(count) + (count == 1 ? " CPU" : " CPUs"); }

std::vector<Warning> find_machine_warnings(const MachineReport& machine, int workers,
                                           const JobSettings& settings) {
  std::vector<Warning> out;
  warn_of_unsteadiness(out, machine.noise);
  warn_of_load(out, machine);
  warn_of_quota(out, machine, workers, settings);
  return out;
}

std::vector<Warning> find_warnings(const Measurements& measured, const MachineReport& machine,
                                   const Waterfall& waterfall, const Explanation& explanation) {
  std::vector<Warning> out =
      find_machine_warnings(machine, measured.chain.workers, measured.chain.settings);
  for (Warning& warning : find_node_warnings(machine.other_nodes)) {
    out.push_back(std::move(warning));
  }
  warn_of_suspension(out, measured.blocks);
  warn_of_other_job(out, measured, waterfall.live);
  if (auto warning = worker_search_warning(measured.chain)) out.push_back(std::move(*warning));
  for (Warning& warning :
       clock_warnings(measured.blocks, measured.stages(), measured.settings.confidence)) {
    out.push_back(std::move(warning));
  }
  if (auto warning = throttling_warning(measured.blocks)) out.push_back(std::move(*warning));
  warn_of_chain(out, measured.chain);
  warn_of_full_caches(out, measured.chain);
  for (Warning& warning : find_process_warnings(measured, waterfall.live)) {
    out.push_back(std::move(warning));
  }
  warn_of_cache(out, measured, waterfall);
  for (Warning& warning : find_reading_warnings(measured, machine.memory_bytes)) {
    out.push_back(std::move(warning));
  }
  warn_of_skipping(out, measured.blocks);
  warn_of_probes(out, explanation.overhead);
  warn_of_small_cache(out, explanation.larger_cache);
  warn_of_fault(out, measured.explain.fault);
  warn_of_failure(out, measured.fault);
  return out;
}

SkippedSamples skipped_samples(const std::vector<BlockRecord>& records) {
  constexpr std::size_t kMaxNamed = 8;
  SkippedSamples skipped;
  for (const BlockRecord& record : records) {
    skipped.count += record.result.skipped;
    for (const std::string& what : record.result.first_skipped) {
      const bool known =
          std::find(skipped.first.begin(), skipped.first.end(), what) != skipped.first.end();
      if (skipped.first.size() < kMaxNamed && !known) skipped.first.push_back(what);
    }
  }
  return skipped;
}

}  // namespace cachebisect
