#include <algorithm>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <vector>

#include "bisect_options.hpp"
#include "commands.hpp"
#include "log.hpp"
#include "output_file.hpp"
#include "session.hpp"
#include "signals.hpp"
#include "terminal.hpp"
#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/replay/pipeline_replayer.hpp"
#include "cachebisect/report/number_format.hpp"
#include "cachebisect/report/writers.hpp"

namespace cachebisect::cli {
namespace {

std::string json_of(const Report& report) {
  std::ostringstream text;
  write_json(report, text);
  return text.str();
}

/// The answer's ways out, opened before anything is measured.
class Outputs {
 public:
  explicit Outputs(const BisectArguments& arguments)
      : quiet_(arguments.quiet),
        json_to_stdout_(arguments.json == "-"),
        color_(use_color(arguments.color, STDOUT_FILENO)) {
    if (!arguments.json.empty() && !json_to_stdout_) json_.emplace_back(arguments.json);
    if (!arguments.out.empty()) {
      json_.emplace_back(arguments.out + "/report.json");
      text_.emplace_back(arguments.out + "/report.txt");
    }
  }

  /// Standard output first, so that a full disk loses nothing. Throws Error(output) after all was
  /// tried.
  void write(const Report& report) {
    const std::string json = json_of(report);
    if (json_to_stdout_) {
      std::cout << json;
    } else if (!quiet_) {
      std::cout << to_text(report, {.color = color_});
    }
    std::optional<Error> first_error;
    const auto commit = [&](OutputFile& file, const std::string& content) {
      try {
        file.commit(content);
        if (!quiet_ && !json_to_stdout_) std::cout << "written: " << file.path() << '\n';
      } catch (const Error& error) {
        if (!first_error) first_error = error;
      }
    };
    for (OutputFile& file : json_) commit(file, json);
    for (OutputFile& file : text_) commit(file, to_text(report));
    std::cout.flush();
    if (!std::cout) throw Error(ErrorKind::output, "standard output could not be written");
    if (first_error) throw Error(*first_error);
  }

 private:
  bool quiet_;
  bool json_to_stdout_;
  bool color_;
  std::vector<OutputFile> json_;
  std::vector<OutputFile> text_;
};

/// The report as of the last complete round, for when a stage is stuck and the run cannot come
/// back.
class LastKnown {
 public:
  void set(const Report& report) {
    const std::scoped_lock lock(mutex_);
    report_ = report;
    report_->interrupted = true;
  }
  /// What was measured before `error` ended the run; nothing when nothing was.
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

std::string opened_line(const Session& session, double seconds) {
  const Pipeline& pipeline = *session.pipeline;
  return pipeline.spec().name + ": " + std::to_string(pipeline.samples()) + " samples, " +
         std::to_string(session.workers) + " workers, device " + session.device->info().name +
         ", step " + session.step->name() + ", opened in " + format_seconds(seconds);
}

std::string progress_line(const Progress& now) {
  std::string line = now.phase + ", round " + std::to_string(now.round) + ", " +
                     to_string(now.arm.kind) + " at boundary " + std::to_string(now.arm.boundary) +
                     ", " + format_seconds(now.elapsed_seconds) + " measured";
  return now.best.empty() ? line : line + ", " + now.best;
}

int run(const BisectArguments& arguments) {
  BisectOptions options = library_options(arguments);
  const IoMode io = io_mode_of(arguments.io);
  const Log log(parse_log_level(arguments.log_level));
  Outputs outputs(arguments);
  LastKnown last_known;
  SignalWatch signals([&] { last_known.write(outputs); });
  const double started = monotonic_seconds();
  const Session session = open_session(arguments.pipeline);
  log.info(opened_line(session, monotonic_seconds() - started));
  options.cache = cache_budget(arguments, *session.device);
  options.seed = session.pipeline->spec().seed;
  options.stop = signals.token();
  ProgressLine progress(!arguments.no_progress && !arguments.quiet && isatty(STDERR_FILENO) != 0);
  options.progress = [&](const Progress& now) {
    progress.show(now);
    if (log.shows(LogLevel::debug)) log.debug(progress_line(now));
  };
  options.partial = [&](const Report& report) { last_known.set(report); };

  const std::unique_ptr<PipelineReplayer> replayer = session.make_replayer(io);
  const double prepared = monotonic_seconds();
  Report report;
  try {
    report = bisect(*replayer, options);
  } catch (const Error& error) {
    signals.stand_down();
    progress.clear();
    last_known.write_after(error, outputs);
    throw;
  }
  signals.stand_down();
  report.timing.prepare_seconds = prepared - started;
  progress.clear();
  outputs.write(report);
  if (const int code = signals.exit_code(); code != 0) return code;
  const auto& gates = arguments.fail_on;
  const bool failed =
      std::find(gates.begin(), gates.end(), to_string(report.verdict.kind)) != gates.end();
  return failed ? exit_code(ErrorKind::gate) : 0;
}

}  // namespace

Command add_bisect(CLI::App& app) {
  auto arguments = std::make_shared<BisectArguments>();
  add_bisect_options(app, *arguments);
  return [arguments] { return run(*arguments); };
}

}  // namespace cachebisect::cli
