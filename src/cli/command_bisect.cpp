#include <algorithm>
#include <memory>
#include <utility>

#include "bisect_options.hpp"
#include "commands.hpp"
#include "log.hpp"
#include "report_outputs.hpp"
#include "signals.hpp"
#include "terminal.hpp"
#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/current_error.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/replay/job/open_job.hpp"

namespace cachebisect::cli {
namespace {

std::string opened_line(const Job& job, double seconds) {
  const Pipeline& pipeline = job.pipeline;
  return pipeline.spec().name + ": " + std::to_string(pipeline.samples()) + " samples, " +
         std::to_string(job.workers) + " workers, device " + job.device->info().name + ", step " +
         job.step->name() + ", opened in " + format_seconds(seconds);
}

std::string progress_line(const Progress& now) {
  std::string line = now.phase + ", round " + std::to_string(now.round) + ", " +
                     to_string(now.arm.kind) + " at boundary " + std::to_string(now.arm.boundary) +
                     ", " + format_seconds(now.elapsed_seconds) + " measured";
  return now.best.empty() ? line : line + ", " + now.best;
}

bool fails_gate(const BisectArguments& arguments, const Report& report) {
  return std::ranges::find(arguments.fail_on, to_string(report.verdict.kind)) !=
         arguments.fail_on.end();
}

/// One run of `bisect`, from the options to the report.
class BisectRun {
 public:
  BisectRun(const BisectArguments& arguments, BisectOptions options, ReportOutputs& outputs,
            LastReport& last_report, SignalWatch& signals)
      : arguments_(arguments),
        options_(std::move(options)),
        outputs_(outputs),
        last_report_(last_report),
        signals_(signals),
        log_(parse_log_level(arguments.log_level)),
        progress_(!arguments.no_progress && !arguments.quiet && isatty(STDERR_FILENO) != 0) {}

  int run() {
    const Report report = measure_or_keep();
    signals_.begin_output();
    progress_.clear();
    outputs_.write(report, [this] { signals_.begin_streams(); });
    return fails_gate(arguments_, report) ? exit_code(ErrorKind::gate) : 0;
  }

 private:
  /// If the run fails, what was measured by then is written. The replayer's memory is free by then.
  Report measure_or_keep() {
    try {
      return measure();
    } catch (...) {
      const Error error = current_error(ErrorKind::internal);
      signals_.begin_output();
      progress_.clear();
      if (error.kind() != ErrorKind::interrupted) {
        last_report_.write_after(error, outputs_, [this] { signals_.begin_streams(); });
      }
      throw Error(error);
    }
  }

  Report measure() {
    const double started = monotonic_seconds();
    registry_ = make_registry(arguments_.pipeline.plugins);
    const Job job = open_job(load_spec(arguments_.pipeline, registry_), registry_,
                             {.io = io_mode_of(arguments_.io),
                              .order_nonce = options_.order_nonce,
                              .opening = opening()});
    progress_.clear();
    log_.info(opened_line(job, monotonic_seconds() - started));
    options_.cache = cache_budget(arguments_, *job.device);
    options_.seed = job.pipeline.spec().seed;
    options_.stop = signals_.token();
    options_.progress = [this](const Progress& now) {
      progress_.show(now);
      if (log_.shows(LogLevel::debug)) log_.debug(progress_line(now));
    };
    options_.partial = [this](const Report& report) { last_report_.set(report); };
    PipelineReplayer replayer = job.make_replayer();
    const double prepared = monotonic_seconds();
    Report report = bisect(replayer, options_);
    report.timing.prepare_seconds = prepared - started;
    return report;
  }

  OpenContext opening() {
    return {.stop = signals_.token(), .progress = [this](const std::string& line) {
              progress_.show(line);
              log_.debug(line);
            }};
  }

  const BisectArguments& arguments_;
  BisectOptions options_;
  ReportOutputs& outputs_;
  LastReport& last_report_;
  SignalWatch& signals_;
  Log log_;
  ProgressLine progress_;
  Registry registry_;  // keeps plugins open until their errors have been handled
};

int run(const BisectArguments& arguments) {
  const BisectOptions options = library_options(arguments);
  ReportOutputs outputs(arguments);
  LastReport last_report;
  const auto write_last = [&](SignalWatch& watch) {
    last_report.write(outputs, [&watch] { watch.begin_streams(); });
  };
  SignalWatch signals({.report = write_last, .remove_temporaries = [&] { outputs.discard(); }});
  const auto work = [&] {
    return BisectRun(arguments, options, outputs, last_report, signals).run();
  };
  return run_until_signal(signals, work, [&] { write_last(signals); });
}

}  // namespace

Command add_bisect(CLI::App& app) {
  auto arguments = std::make_shared<BisectArguments>();
  add_bisect_options(app, *arguments);
  return [arguments] { return run(*arguments); };
}

}  // namespace cachebisect::cli
