#include "cachebisect/bisect/warnings.hpp"

#include <cmath>

#include "cachebisect/bisect/format.hpp"

namespace cachebisect {
namespace {

constexpr double kUnsteady = 0.005;
constexpr double kStealWorthSaying = 0.02;
constexpr double kServeWorthSaying = 0.01;

void warn_of_machine(std::vector<Warning>& out, const Report& report, const Measured& measured) {
  const auto& null = report.machine.noise.null_drop.interval;
  if (null && (null->low > kUnsteady || null->high < -kUnsteady)) {
    out.push_back({"unsteady",
                   "the same boundary measured twice differs by " + percent_range(*null) +
                       ": the machine is too unsteady for small drops",
                   "stop other work on this machine, or give a longer --budget"});
  }
  const auto& steal = report.machine.noise.steal_share;
  if (steal && *steal > kStealWorthSaying) {
    out.push_back({"steal", percent(*steal) + " of the CPU time was taken by the hypervisor",
                   "measure on a machine of your own, or again at another time"});
  }
  if (measured.runner.void_blocks() > 0) {
    out.push_back({"suspended",
                   "the process was suspended in " + std::to_string(measured.runner.void_blocks()) +
                       " blocks; they were repeated",
                   "do not stop or freeze the process while it measures"});
  }
}

void warn_of_job(std::vector<Warning>& out, const Report& report, const BisectOptions& options) {
  const auto& live = report.live.value;
  if (options.expect_samples_per_second && live) {
    const double ratio = *live / *options.expect_samples_per_second;
    if (std::abs(ratio - 1) > 0.1) {
      out.push_back({"not_your_job",
                     "live throughput here is " + rate(*live) + " samples/s, not the " +
                         rate(*options.expect_samples_per_second) + " expected",
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

}  // namespace

std::vector<Warning> find_warnings(const Report& report, const Measured& measured,
                                   const BisectOptions& options) {
  std::vector<Warning> out;
  warn_of_machine(out, report, measured);
  warn_of_job(out, report, options);
  warn_of_cache(out, report);
  if (report.skipped > 0) {
    out.push_back({"skipped",
                   std::to_string(report.skipped) + " damaged samples were skipped and replaced",
                   report.first_skipped.empty() ? "check the data" : report.first_skipped.front()});
  }
  return out;
}

}  // namespace cachebisect
