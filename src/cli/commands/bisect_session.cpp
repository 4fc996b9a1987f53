#include "commands/bisect_session.hpp"

#include <algorithm>
#include <utility>

#include "output/report_outputs.hpp"
#include <unistd.h>

#include "cachebisect/base/current_error.hpp"
#include "cachebisect/base/number_format.hpp"

namespace cachebisect::cli {
namespace {

std::string progress_line(const Progress& now) {
  std::string line = now.phase + ", round " + std::to_string(now.round) + ", " +
                     to_string(now.arm.kind) + " at boundary " + std::to_string(now.arm.boundary) +
                     ", " + format_seconds(now.elapsed_seconds) + " measured";
  return now.best.empty() ? line : line + ", " + now.best;
}

class BisectSession {
 public:
  BisectSession(const BisectArguments& arguments, BisectOptions options, const SessionSteps& steps)
      : arguments_(arguments),
        steps_(steps),
        outputs_(arguments.report),
        signals_({.report = [this](SignalWatch&) { write_last(); },
                  .remove_temporaries = [this] { abandon(); }}),
        log_(parse_log_level(arguments.log_level)),
        progress_(!arguments.no_progress && !arguments.report.quiet && isatty(STDERR_FILENO) != 0),
        tools_{std::move(options), log_, progress_} {
    tools_.options.stop = signals_.token();
    tools_.options.progress = [this](const Progress& now) {
      progress_.show(now);
      if (log_.shows(LogLevel::debug)) log_.debug(progress_line(now));
    };
    tools_.options.partial = [this](const Report& report) { last_report_.set(report); };
  }

  int run() {
    int code = 0;
    try {
      code = measure_and_write();
    } catch (...) {
      const Error error = current_error(ErrorKind::internal);
      text_ = error.what();
      end(exit_code(error.kind()));
      throw Error(error);
    }
    return end(code);
  }

 private:
  int end(int code) {
    if (!steps_.end) return code;
    signals_.begin_output();
    return steps_.end({code, text_, signals_});
  }

  int measure_and_write() {
    const auto work = [this] {
      const Report report = measure_or_keep();
      text_ = report.verdict.text;
      signals_.begin_output();
      progress_.clear();
      outputs_.write(report, [this] { signals_.begin_streams(); });
      return arguments_.gate.fails(report) ? exit_code(ErrorKind::gate) : 0;
    };
    return run_until_signal(signals_, work, [this] {
      text_ = "interrupted";
      write_last();
    });
  }

  /// If the run fails, what was measured by then is written. The replayer's memory is free by then.
  Report measure_or_keep() {
    try {
      return steps_.measure(tools_);
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

  void write_last() {
    last_report_.write(outputs_, [this] { signals_.begin_streams(); });
  }

  void abandon() const {
    outputs_.discard();
    if (steps_.abandon) steps_.abandon();
  }

  const BisectArguments& arguments_;
  const SessionSteps& steps_;
  ReportOutputs outputs_;
  LastReport last_report_;
  SignalWatch signals_;
  Log log_;
  ProgressLine progress_;
  SessionTools tools_;
  std::string text_;
};

}  // namespace

int run_session(const BisectArguments& arguments, const BisectOptions& options,
                const SessionSteps& steps) {
  return BisectSession(arguments, options, steps).run();
}

}  // namespace cachebisect::cli
