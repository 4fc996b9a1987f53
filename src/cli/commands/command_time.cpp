#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands/commands.hpp"
#include "commands/time_options.hpp"
#include "output/timing_outputs.hpp"
#include "shell/log.hpp"
#include "shell/signals.hpp"
#include "shell/terminal.hpp"
#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cachebisect/base/text_file.hpp"
#include "cachebisect/launch/command_with_folder.hpp"
#include "cachebisect/timing/script_times.hpp"

namespace cachebisect::cli {
namespace {

/// Times one batch size after the other, each with a job of its own.
class TimeRuns {
 public:
  TimeRuns(const TimeArguments& arguments, const std::stop_token& stop, ProgressLine& progress)
      : arguments_(arguments),
        options_(timing_options(arguments)),
        registry_(make_registry(arguments.pipeline.plugins)) {
    options_.stop = stop;
    options_.progress = [&progress](const std::string& line) { progress.show(line); };
  }

  TimingRecord run() {
    const PipelineSpec spec = load_spec(pipeline_options(arguments_), registry_);
    if (arguments_.batch_sizes.empty()) add(spec);
    for (const std::int64_t size : arguments_.batch_sizes) {
      if (options_.stop.stop_requested()) break;
      add(change_pipeline(spec, registry_, {{"batch_size", std::to_string(size)}}));
    }
    return std::move(record_);
  }

 private:
  void add(const PipelineSpec& spec) {
    const OpenContext opening{.stop = options_.stop, .progress = options_.progress};
    const Job job = open_job(spec, registry_, {.opening = opening});
    if (record_.runs.empty()) {
      record_ = timing_record_of(job, options_);
      record_.bisect_command = "cachebisect --pipeline " + arguments_.pipeline.file;
    }
    record_.runs.push_back(time_job(job, options_));
    options_.measure_cost = false;  // it depends little on the batch size
  }

  const TimeArguments& arguments_;
  TimingOptions options_;
  Registry registry_;
  TimingRecord record_;
};

constexpr std::size_t kMaxConfigBytes = 1 << 20;

/// In terms of the file that -c names.
void name_by_file(TimingRecord& record, const LightningArguments& lightning) {
  record.name = std::filesystem::path(lightning.config).filename().string();
  record.bisect_command = lightning_bisect_command(lightning);
  record.config_text = read_text_file(lightning.config, kMaxConfigBytes, "a file of LightningCLI");
}

/// The batches of a script or a pipeline, and the exit code.
int time_any(const TimeArguments& arguments, const TimingOptions& options, CommandWithFolder& run,
             TimingOutputs& outputs, SignalWatch& signals, ProgressLine& progress) {
  TimingRecord record;
  int code = 0;
  const std::vector<std::string> command = timed_command(arguments);
  if (command.empty()) {
    record = TimeRuns(arguments, signals.token(), progress).run();
  } else {
    signals.begin_output();  // The longest patience: a command may take long to end.
    ScriptTimes script = time_script(run,
                                     {.words = command,
                                      .hook = arguments.hook,
                                      .continues = arguments.then == "continue",
                                      .stdout_to_stderr = arguments.json == "-"},
                                     options, signals.token());
    record = std::move(script.record);
    if (arguments.lightning.given()) name_by_file(record, arguments.lightning);
    code = script.exit_code;
  }
  signals.begin_output();
  progress.clear();
  outputs.write(record, text_options(arguments.color, STDOUT_FILENO),
                [&signals] { signals.begin_streams(); });
  return code;
}

int run(const TimeArguments& arguments) {
  static_cast<void>(use_color(arguments.color, STDOUT_FILENO));
  const TimingOptions options = timing_options(arguments);
  TimingOutputs outputs(arguments.save_dir, arguments.json, arguments.quiet);
  CommandWithFolder script;
  SignalWatch signals({.remove_temporaries = [&] {
    outputs.discard();
    script.abandon();
  }});
  ProgressLine progress(!arguments.no_progress && isatty(STDERR_FILENO) != 0);
  return run_until_signal(
      signals, [&] { return time_any(arguments, options, script, outputs, signals, progress); },
      [] { print_error("interrupted"); });
}

}  // namespace

Command add_time(CLI::App& app) {
  auto arguments = std::make_shared<TimeArguments>();
  add_time_options(app, *arguments);
  return [arguments] { return run(*arguments); };
}

}  // namespace cachebisect::cli
