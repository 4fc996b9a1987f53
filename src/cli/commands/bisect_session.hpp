// One run of the bisector as a command: options, signals, progress, outputs and exit code. What is
// measured is up to the caller.
#pragma once

#include <functional>
#include <string>

#include "commands/bisect_options.hpp"
#include "shell/log.hpp"
#include "shell/signals.hpp"
#include "shell/terminal.hpp"

#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect::cli {

/// What a session offers to the code that measures.
struct SessionTools {
  BisectOptions options;  ///< stop, progress and partial are set
  const Log& log;
  ProgressLine& progress;
};

/// How a session ended.
struct SessionEnd {
  int exit_code = 0;
  std::string text;            ///< the verdict, or the error
  const SignalWatch& signals;  ///< which may come after the end too
};

struct SessionSteps {
  /// Measures; its own memory is free before outputs are written.
  std::function<Report(SessionTools& tools)> measure;
  /// Called once all outputs are written or the run has failed, with signals still watched. Returns
  /// the exit code.
  std::function<int(const SessionEnd& end)> end{};
  /// Called if the process has to end at once. Any thread.
  std::function<void()> abandon{};
};

/// Opens the outputs, measures, writes the report; if the run fails or is stopped, what was
/// measured by then. Returns the exit code. Throws what `measure` throws.
int run_session(const BisectArguments& arguments, const BisectOptions& options,
                const SessionSteps& steps);

}  // namespace cachebisect::cli
