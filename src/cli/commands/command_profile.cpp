#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/commands.hpp"
#include "commands/lightning_profile.hpp"
#include "commands/pipeline_options.hpp"
#include "output/output_files.hpp"
#include "shell/log.hpp"
#include "shell/signals.hpp"
#include "shell/terminal.hpp"
#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/printable.hpp"
#include "cachebisect/launch/command_with_folder.hpp"
#include "cachebisect/profile/profile.hpp"
#include "cachebisect/profile/profile_text.hpp"
#include "cachebisect/profile/script_profile.hpp"
#include "cachebisect/profile/trace_writer.hpp"

namespace cachebisect::cli {
namespace {

struct ProfileArguments {
  profile::CallView calls;
  std::string sort = "self";
  PipelineOptions pipeline;
  profile::Options options;
  std::string kind;  ///< empty: simple; with -c: all
  LightningProfileArguments lightning;
  std::string trace;
  std::string hook;
  std::vector<std::string> command;  ///< of a script, in place of a pipeline
  std::string color = "auto";
  bool no_progress = false;
};

/// Throws Error(usage) for options that a script does not have.
void check_script_options(const ProfileArguments& a) {
  const PipelineOptions& p = a.pipeline;
  const bool pipeline = !p.file.empty() || !p.sets.empty() || p.device || p.workers || p.seed ||
                        p.batch_size || !p.plugins.empty();
  if (!pipeline && !a.options.repeat) return;
  throw Error(ErrorKind::usage,
              "a command after -- sets its own data, batch size and device; of the options, only "
              "--profiler, --trace, --wait, --warmup, --active, --shapes, --memory, --sort, --top, "
              "--hook and --color apply to it");
}

/// The profiler that was named, else the simple one. Throws Error(usage).
profile::Kind kind_of(const ProfileArguments& arguments) {
  if (arguments.kind.empty()) return profile::Kind::simple;
  if (const auto kind = profile::parse_kind(arguments.kind)) return *kind;
  throw Error(ErrorKind::usage, "--profiler " + printable(arguments.kind) +
                                    "; it must be simple, advanced or pytorch");
}

/// The options of the run. Throws Error(usage).
profile::Options options_of(const ProfileArguments& arguments) {
  profile::Options options = arguments.options;
  options.kind = kind_of(arguments);
  options.trace = !arguments.trace.empty();
  if (options.kind == profile::Kind::pytorch && !options.trace) {
    throw Error(ErrorKind::usage, "--profiler pytorch writes a trace; name its file: --trace FILE");
  }
  if (!arguments.command.empty()) check_script_options(arguments);
  const bool step_options = options.step_profiler.shapes || options.step_profiler.memory;
  if (options.kind != profile::Kind::pytorch && step_options) {
    throw Error(ErrorKind::usage, "--shapes and --memory need --profiler pytorch");
  }
  return options;
}

/// Lightning's profilers write files of their own. Throws Error(usage).
void check_lightning_options(const ProfileArguments& a) {
  const PipelineOptions& p = a.pipeline;
  check_lightning(a.lightning.training, !p.file.empty() || !a.command.empty());
  if (!a.lightning.training.given()) {
    if (!a.lightning.has_own_options()) return;
    throw Error(ErrorKind::usage,
                "--epochs, --max-batches, --precision and --save-dir need a file: -c FILE");
  }
  const profile::Options& o = a.options;
  const bool ours = !a.trace.empty() || o.repeat || o.active || o.step_profiler.shapes ||
                    o.step_profiler.memory || !p.sets.empty() || p.workers || p.seed ||
                    p.batch_size || !p.plugins.empty();
  if (ours) {
    throw Error(ErrorKind::usage,
                "-c FILE runs Lightning's own profilers; of the options, only --profiler, "
                "--epochs, --max-batches, --precision, --device, --save-dir, --model-class, "
                "--data-class, --python and --hook apply to it");
  }
  static_cast<void>(kind_of(a));
}

/// How operators are shown. Throws Error(usage).
profile::CallView view_of(const ProfileArguments& arguments) {
  profile::CallView view = arguments.calls;
  const auto order = profile::parse_call_order(arguments.sort);
  if (!order) {
    throw Error(ErrorKind::usage,
                "--sort " + printable(arguments.sort) + "; it must be total, self, mean or calls");
  }
  view.order = *order;
  return view;
}

/// Standard output and the trace, which is opened before anything runs.
class ProfileOutputs {
 public:
  ProfileOutputs(const std::string& trace, const TextOptions& text, const profile::CallView& calls)
      : text_(text), calls_(calls) {
    if (!trace.empty()) outputs_.add(trace, profile::trace_json);
  }

  void write(const profile::Profile& profile, SignalWatch& signals) {
    outputs_.write(
        profile,
        {.text = [&] { return profile::to_text(profile, text_, calls_); }, .lists_files = true},
        [&] { signals.begin_streams(); });
  }
  /// See OutputFile::discard(). Any thread.
  void discard() const noexcept { outputs_.discard(); }

 private:
  TextOptions text_;
  profile::CallView calls_;
  OutputSet<profile::Profile> outputs_;
};

int run_lightning(const ProfileArguments& arguments) {
  CommandWithFolder training;
  SignalWatch signals({.remove_temporaries = [&training] { training.abandon(); }});
  signals.begin_output();  // The longest patience: a command may take long to end.
  std::vector<std::string> kinds;
  if (!arguments.kind.empty()) kinds.push_back(arguments.kind);
  const auto work = [&] {
    return profile_lightning(training, arguments.lightning, kinds,
                             arguments.pipeline.device.value_or(""), arguments.hook,
                             signals.token());
  };
  return run_until_signal(signals, work, [] { print_error("interrupted"); });
}

int run(const ProfileArguments& arguments) {
  check_lightning_options(arguments);
  if (arguments.lightning.training.given()) return run_lightning(arguments);
  profile::Options options = options_of(arguments);
  ProfileOutputs outputs(arguments.trace, text_options(arguments.color, STDOUT_FILENO),
                         view_of(arguments));
  CommandWithFolder command;
  SignalWatch signals({.report = [](SignalWatch&) { print_error("interrupted"); },
                       .remove_temporaries =
                           [&] {
                             outputs.discard();
                             command.abandon();
                           }});
  ProgressLine progress(!arguments.no_progress && isatty(STDERR_FILENO) != 0);
  const auto show = [&](const std::string& line) { progress.show(line); };
  options.stop = signals.token();
  options.progress = show;
  const auto work = [&] {
    if (!arguments.command.empty()) {
      signals.begin_output();  // The longest patience: a command may take long to end.
      const profile::ScriptProfile script = profile::profile_script(
          command, arguments.command, arguments.hook, options, signals.token());
      signals.begin_output();
      outputs.write(script.profile, signals);
      return script.exit_code;
    }
    const Registry registry = make_registry(arguments.pipeline.plugins);
    const OpenContext opening{.stop = signals.token(), .progress = show};
    const Job job =
        open_job(load_spec(arguments.pipeline, registry), registry, {.opening = opening});
    const profile::Profile profile = profile::run(job, options);
    progress.clear();
    signals.begin_output();
    outputs.write(profile, signals);
    return 0;
  };
  return run_until_signal(signals, work, [] { print_error("interrupted"); });
}

}  // namespace

Command add_profile(CLI::App& app) {
  auto arguments = std::make_shared<ProfileArguments>();
  add_pipeline_options(app, arguments->pipeline);
  add_lightning_profile_options(app, arguments->lightning);
  profile::Options& options = arguments->options;
  app.add_option("--profiler", arguments->kind,
                 "simple: by action and stage; advanced: also by function and operator; pytorch: "
                 "LibTorch's own profiler (simple; with -c all three, which are Lightning's then)")
      ->type_name("simple|advanced|pytorch");
  app.add_option("--trace", arguments->trace, "write a Chrome trace for Perfetto or TensorBoard")
      ->type_name("FILE");
  app.add_option("--wait", options.wait, "steps of a cycle before the profiler warms up (1)")
      ->type_name("N");
  app.add_option("--warmup", options.warmup, "steps of a cycle that warm the profiler up (4)")
      ->type_name("N");
  app.add_option("--active", options.active,
                 "profiled steps of a cycle (what takes half a second; with a trace 3)")
      ->type_name("N");
  app.add_option("--repeat", options.repeat, "cycles (10; with a trace 1)")->type_name("N");
  app.add_option("--sort", arguments->sort,
                 "functions and operators by self, total, mean or calls (self)")
      ->type_name("self|total|mean|calls");
  app.add_option("--top", arguments->calls.top, "functions and operators that are shown (15)")
      ->type_name("N");
  app.add_flag("--shapes", options.step_profiler.shapes,
               "record the shapes of each operator's inputs (pytorch)");
  app.add_flag("--memory", options.step_profiler.memory, "record each allocation (pytorch)");
  app.add_option("--hook", arguments->hook,
                 "folder of the Python hook (that of the installed package)")
      ->type_name("DIR");
  app.add_option("command", arguments->command,
                 "after --: the Python command to profile, unchanged")
      ->type_name("-- CMD ARGS...");
  app.add_option("--color", arguments->color, "colour: auto is on a terminal")
      ->type_name("auto|always|never");
  app.add_flag("--no-progress", arguments->no_progress, "no progress on standard error");
  return [arguments] { return run(*arguments); };
}

}  // namespace cachebisect::cli
