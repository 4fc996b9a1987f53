#include "commands/bisect_options.hpp"

#include <cmath>

#include "commands/quantities.hpp"
#include <CLI/CLI.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/machine.hpp"

namespace cachebisect::cli {
namespace {

constexpr double kQuickConfidence = 0.9;
constexpr std::uint64_t kMaxNonce = std::uint64_t{1} << 53U;  ///< exact in any reader of JSON

void add_measuring_options(CLI::App& app, BisectArguments& a) {
  app.add_option("--confidence", a.confidence, "of every statement (0.99)")->type_name("SHARE");
  app.add_flag("--quick", a.quick, "the same as --confidence 0.9");
  app.add_option("--min-drop", a.min_drop, "the smallest drop worth naming (5%)")
      ->type_name("SHARE");
  app.add_option("--sustain", a.sustain_seconds,
                 "seconds that live runs in one piece before a verdict (3, flat: more); 0: not")
      ->type_name("SECONDS");
  app.add_option("--cache-host", a.cache_host, "host memory for caches (25% of what is free)")
      ->type_name("BYTES|%");
  app.add_option("--cache-device", a.cache_device, "device memory for caches (10%)")
      ->type_name("BYTES|%");
  app.add_option("--boundaries", a.boundaries, "only these boundaries, e.g. 0,3,7")
      ->delimiter(',')
      ->type_name("LIST");
  app.add_option("--expect", a.expect,
                 "samples/s of your own job; warns if the live figure differs")
      ->type_name("SAMPLES_PER_SECOND");
  app.add_option("--cost-per-hour", a.cost_per_hour,
                 "price of the whole job; the report says how much of it the loss costs")
      ->type_name("AMOUNT");
}

void add_reading_options(CLI::App& app, BisectArguments& a) {
  app.add_option("--io", a.io, "how boundary 0 reads: as-is, warm or cold")
      ->type_name("as-is|warm|cold");
  app.add_option("--nonce", a.nonce,
                 "where in the epoch reading begins; 0: at its beginning (drawn anew in each run, "
                 "so that it does not read what the one before has left in memory)")
      ->type_name("N");
}

/// What runs after the verdict.
void add_follow_up_options(CLI::App& app, BisectArguments& a) {
  app.add_option("--what-if", a.what_ifs,
                 "predict a change, e.g. workers=4, crop=free, decode/2, batch_size=256 "
                 "(repeatable)")
      ->type_name("CHANGE")
      ->expected(1)
      ->take_all();
  app.add_flag("--verify", a.verify,
               "run the what-ifs that can be run, alongside the live pipeline");
  app.add_flag("--no-explain", a.no_explain,
               "end with the verdict: no payoffs, no starvation or contention");
}

void add_output_options(CLI::App& app, BisectArguments& a) {
  add_verdict_gate(app, a.gate);
  add_report_destinations(app, a.report);
  app.add_flag("--no-progress", a.no_progress, "no progress on standard error");
  app.add_option("--log-level", a.log_level, "error, warn, info or debug (warn)")
      ->type_name("error|warn|info|debug");
}

}  // namespace

void add_bisect_options(CLI::App& app, BisectArguments& a) {
  add_pipeline_options(app, a.pipeline);
  app.add_option("--budget", a.budget_seconds,
                 "seconds of measuring at most (60, or more for slow steps)")
      ->type_name("SECONDS");
  add_reading_options(app, a);
  add_job_options(app, a);
}

void add_job_options(CLI::App& app, BisectArguments& a) {
  add_measuring_options(app, a);
  add_follow_up_options(app, a);
  add_output_options(app, a);
}

BisectOptions library_options(const BisectArguments& a) {
  a.gate.check();
  if (a.budget_seconds && !(*a.budget_seconds > 0))
    throw Error(ErrorKind::usage, "--budget: seconds greater than 0");
  if (a.sustain_seconds && !(*a.sustain_seconds >= 0)) {
    throw Error(ErrorKind::usage, "--sustain: 0 or more seconds");
  }
  if (!(a.confidence >= 0.5 && a.confidence < 1)) {
    throw Error(ErrorKind::usage, "--confidence: a share from 0.5 to below 1, such as 0.99");
  }
  if (a.nonce && *a.nonce > kMaxNonce) {
    throw Error(ErrorKind::usage, "--nonce: a whole number from 0 to " + std::to_string(kMaxNonce));
  }
  if (a.cost_per_hour && !(*a.cost_per_hour > 0 && std::isfinite(*a.cost_per_hour))) {
    throw Error(ErrorKind::usage, "--cost-per-hour: an amount greater than 0, such as 98");
  }
  BisectOptions options;
  options.budget_seconds = a.budget_seconds.value_or(options.budget_seconds);
  options.budget_grows = !a.budget_seconds;
  options.sustain_seconds = a.sustain_seconds;
  options.confidence = a.quick ? kQuickConfidence : a.confidence;
  options.min_drop = parse_share("--min-drop", a.min_drop);
  options.io = a.io;
  options.order_nonce = a.nonce;
  options.boundaries = a.boundaries;
  options.expect_samples_per_second = a.expect;
  options.cost_per_hour = a.cost_per_hour;
  options.what_ifs = a.what_ifs;
  options.verify = a.verify;
  options.explain = !a.no_explain;
  return options;
}

CacheBudget cache_budget(const BisectArguments& a, double device_free_bytes) {
  CacheBudget budget;
  if (a.cache_host)
    budget.host_bytes = parse_bytes("--cache-host", *a.cache_host, available_memory().spare_bytes);
  if (a.cache_device) {
    budget.device_bytes = parse_bytes("--cache-device", *a.cache_device, device_free_bytes);
    if (*budget.device_bytes <= 0) {
      throw Error(ErrorKind::usage,
                  "--cache-device: the free memory of this device is not known, or it has none of "
                  "its own; give bytes, not a percentage");
    }
  }
  return budget;
}

}  // namespace cachebisect::cli
