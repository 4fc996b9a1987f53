#include <algorithm>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "bisect_options.hpp"
#include "commands.hpp"
#include "log.hpp"
#include "output_file.hpp"
#include "signals.hpp"
#include "terminal.hpp"
#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/replay/job/open_job.hpp"
#include "cachebisect/report/formats.hpp"
#include "cachebisect/report/writers.hpp"

namespace cachebisect::cli {
namespace {

/// The outputs of the report, opened before anything is measured.
class Outputs {
 public:
  explicit Outputs(const BisectArguments& arguments)
      : quiet_(arguments.quiet), color_(use_color(arguments.color, STDOUT_FILENO)) {
    for (const ReportFormat& format : report_formats()) {
      const auto named = arguments.files.find(std::string(format.option));
      const std::string name = named == arguments.files.end() ? "" : named->second;
      if (name == "-") {
        to_stdout_ = &format;
      } else if (!name.empty()) {
        files_.push_back({&format, OutputFile(name)});
      }
      if (!arguments.out.empty()) {
        files_.push_back({&format, OutputFile(arguments.out + "/" + std::string(format.file))});
      }
    }
  }

  /// Standard output first, so that a full disk loses nothing. Throws Error(output) after trying
  /// all outputs.
  void write(const Report& report) {
    if (to_stdout_ != nullptr) {
      std::cout << to_stdout_->write(report);
    } else if (!quiet_) {
      std::cout << to_text(report, {.color = color_});
    }
    std::optional<Error> first_error;
    for (Output& output : files_) {
      try {
        output.file.commit(output.format->write(report));
        if (!quiet_ && to_stdout_ == nullptr) {
          std::cout << "written: " << output.file.path() << '\n';
        }
      } catch (const Error& error) {
        if (!first_error) first_error = error;
      }
    }
    std::cout.flush();
    if (!std::cout) throw Error(ErrorKind::output, "standard output could not be written");
    if (first_error) throw Error(*first_error);
  }

 private:
  struct Output {
    const ReportFormat* format;
    OutputFile file;
  };

  bool quiet_;
  bool color_;
  const ReportFormat* to_stdout_ = nullptr;  ///< in the place of the terminal report
  std::vector<Output> files_;
};

/// The report as of the last complete round, for a run that fails or never returns because a stage
/// is stuck.
class LastReport {
 public:
  void set(const Report& report) {
    const std::scoped_lock lock(mutex_);
    report_ = report;
    report_->interrupted = true;
  }
  /// Writes what was measured before `error` ended the run, if anything was.
  void write_after(const Error& error, Outputs& outputs) {
    {
      const std::scoped_lock lock(mutex_);
      if (!report_) return;
      report_->warnings.push_back({"run_failed",
                                   std::string("the run ended early: ") + error.what(),
                                   "The figures are those of the rounds before."});
    }
    write(outputs);
  }
  void write(Outputs& outputs) {
    const std::scoped_lock lock(mutex_);
    if (!report_) {
      std::cerr << "cachebisect: interrupted before anything was measured\n";
      return;
    }
    try {
      outputs.write(*report_);
    } catch (const Error& error) {
      std::cerr << "cachebisect: " << error.what() << '\n';
    }
  }

 private:
  std::mutex mutex_;
  std::optional<Report> report_;
};

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

int run(const BisectArguments& arguments) {
  BisectOptions options = library_options(arguments);
  const IoMode io = io_mode_of(arguments.io);
  const Log log(parse_log_level(arguments.log_level));
  Outputs outputs(arguments);
  LastReport last_report;
  SignalWatch signals([&] { last_report.write(outputs); });
  const double started = monotonic_seconds();
  const Registry registry = make_registry(arguments.pipeline.plugins);
  const Job job = open_job(load_spec(arguments.pipeline, registry), registry,
                           {.io = io, .order_nonce = options.order_nonce, .stop = signals.token()});
  log.info(opened_line(job, monotonic_seconds() - started));
  options.cache = cache_budget(arguments, *job.device);
  options.seed = job.pipeline.spec().seed;
  options.stop = signals.token();
  ProgressLine progress(!arguments.no_progress && !arguments.quiet && isatty(STDERR_FILENO) != 0);
  options.progress = [&](const Progress& now) {
    progress.show(now);
    if (log.shows(LogLevel::debug)) log.debug(progress_line(now));
  };
  options.partial = [&](const Report& report) { last_report.set(report); };

  PipelineReplayer replayer = job.make_replayer();
  const double prepared = monotonic_seconds();
  Report report;
  try {
    report = bisect(replayer, options);
  } catch (const Error& error) {
    signals.disarm();
    progress.clear();
    last_report.write_after(error, outputs);
    throw;
  }
  signals.disarm();
  report.timing.prepare_seconds = prepared - started;
  progress.clear();
  outputs.write(report);
  if (const int code = signals.exit_code(); code != 0) return code;
  return fails_gate(arguments, report) ? exit_code(ErrorKind::gate) : 0;
}

}  // namespace

Command add_bisect(CLI::App& app) {
  auto arguments = std::make_shared<BisectArguments>();
  add_bisect_options(app, *arguments);
  return [arguments] { return run(*arguments); };
}

}  // namespace cachebisect::cli
