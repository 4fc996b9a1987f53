// `tune`: changes a pipeline, or the loader of a script, until the training step is the limit, and
// keeps what gains.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/allow_option.hpp"
#include "commands/commands.hpp"
#include "commands/pipeline_options.hpp"
#include "commands/script_run.hpp"
#include "output/output_files.hpp"
#include "shell/log.hpp"
#include "shell/signals.hpp"
#include "shell/terminal.hpp"
#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cachebisect/base/current_error.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/tune/ladder_json.hpp"
#include "cachebisect/tune/ladder_text.hpp"
#include "cachebisect/tune/scratch_folder.hpp"
#include "cachebisect/tune/tune.hpp"

namespace cachebisect::cli {
namespace {

struct TuneArguments {
  PipelineOptions pipeline;
  ScriptArguments script;
  AttachArguments attach{.then = "exit"};
  tune::Options options;
  std::vector<std::string> allowed;
  std::string resume;
  std::string keep;
  std::string json;
  bool no_progress = false;
  std::string color = "auto";
};

tune::Options checked(const TuneArguments& arguments) {
  tune::Options options = arguments.options;
  options.allow_semantic = allows_semantic(arguments.allowed);
  if (!(options.budget_seconds > 0)) {
    throw Error(ErrorKind::usage, "--budget: seconds greater than 0");
  }
  const auto& target = options.target_samples_per_second;
  if (target && !(*target > 0)) {
    throw Error(ErrorKind::usage, "--target: samples/s greater than 0");
  }
  return options;
}

/// The outputs, opened before anything is measured.
class TuneOutputs {
 public:
  explicit TuneOutputs(const TuneArguments& arguments)
      : text_(text_options(arguments.color, STDOUT_FILENO)),
        json_to_stdout_(arguments.json == "-") {
    if (!arguments.keep.empty()) {
      outputs_.add(arguments.keep, [](const tune::Result& r) { return r.pipeline_json + '\n'; });
    }
    if (!arguments.json.empty() && !json_to_stdout_) {
      outputs_.add(arguments.json, [](const tune::Result& r) { return tune::to_json(r); });
    }
  }

  void write(const tune::Result& result, SignalWatch& signals) {
    const auto answer = [&] {
      return json_to_stdout_ ? tune::to_json(result) : tune::to_text(result, text_);
    };
    outputs_.write(result, {.text = answer, .lists_files = !json_to_stdout_},
                   [&] { signals.begin_streams(); });
  }
  void discard() const noexcept { outputs_.discard(); }

 private:
  TextOptions text_;
  bool json_to_stdout_;
  OutputSet<tune::Result> outputs_;
};

/// The tuned pipeline of an earlier ladder, or the one that is named.
PipelineSpec spec_of(const TuneArguments& arguments, const Registry& registry,
                     std::optional<tune::Result>& resumed) {
  if (arguments.resume.empty()) return load_spec(arguments.pipeline, registry);
  if (!arguments.pipeline.file.empty()) {
    throw Error(ErrorKind::usage,
                "--resume goes on with the pipeline of its ladder; leave out --pipeline");
  }
  resumed = tune::load_ladder(arguments.resume);
  return parse_pipeline(resumed->pipeline_json, arguments.resume, registry,
                        {".", default_cache_folder()}, overrides_of(arguments.pipeline));
}

/// One run of tune(): signals, progress and outputs around it.
class TuneSession {
 public:
  explicit TuneSession(const TuneArguments& arguments)
      : options(checked(arguments)),
        outputs_(arguments),
        script_(arguments.script.command.empty()
                    ? nullptr
                    : std::make_unique<ScriptRun>(arguments.script, arguments.attach)),
        signals_({.report = [](SignalWatch&) { print_error("interrupted"); },
                  .remove_temporaries = [this] { abandon(); }}),
        log_(LogLevel::warn),
        progress_(!arguments.no_progress && isatty(STDERR_FILENO) != 0),
        tools_{{}, log_, progress_} {
    tools_.options.stop = options.stop = signals_.token();
    options.announce = [this](const std::string& what) {
      doing_ = what;
      progress_.show(what);
    };
    options.progress = [this](const Progress& now) {
      progress_.show(doing_ + ": " + describe(now));
    };
  }

  template <class Work>
  int run(const Work& work) {
    const auto written = [&] {
      const tune::Result result = work();
      said_ = result.end;
      signals_.begin_output();
      progress_.clear();
      outputs_.write(result, signals_);
      return 0;
    };
    const auto interrupted = [] { print_error("interrupted before the first diagnosis"); };
    try {
      return end(run_until_signal(signals_, written, interrupted));
    } catch (...) {
      const Error error = current_error(ErrorKind::internal);
      said_ = error.what();
      end(exit_code(error.kind()));
      throw Error(error);
    }
  }

  tune::Result of_script(bool stdout_to_stderr) {
    AttachedRun& attached = script_->begin(tools_, stdout_to_stderr);
    try {
      AttachedReplayer& replayer = attached.open(tools_);
      options.seed = tools_.options.seed;
      return tune::tune(replayer, options);
    } catch (const Error& error) {
      throw Error(script_->with_end_of_command(error));
    }
  }

  tune::Options options;

 private:
  int end(int code) {
    if (!script_) return code;
    signals_.begin_output();
    return script_->end({code, said_, signals_});
  }
  void abandon() const {
    outputs_.discard();
    if (script_) script_->abandon();
  }

  TuneOutputs outputs_;
  std::unique_ptr<ScriptRun> script_;  ///< null: a pipeline is tuned
  SignalWatch signals_;
  Log log_;
  ProgressLine progress_;
  SessionTools tools_;
  std::string doing_;
  std::string said_;
};

void check_subject(const TuneArguments& arguments) {
  if (arguments.script.command.empty()) return;
  if (!arguments.pipeline.file.empty() || !arguments.resume.empty()) {
    throw Error(ErrorKind::usage, "a pipeline, or a command after --: not both");
  }
  // Before the command is started.
  const std::string& scratch = arguments.options.scratch;
  if (!scratch.empty()) static_cast<void>(tune::ScratchFolder(scratch));
}

int run(const TuneArguments& arguments) {
  check_subject(arguments);
  TuneSession session(arguments);
  if (!arguments.script.command.empty()) {
    return session.run([&] { return session.of_script(arguments.json == "-"); });
  }
  Registry registry;  // keeps plugins open until their errors have been handled
  return session.run([&] {
    registry = make_registry(arguments.pipeline.plugins);
    const PipelineSpec spec = spec_of(arguments, registry, session.options.resumed);
    session.options.seed = spec.seed;
    return tune::tune(spec, registry, session.options);
  });
}

}  // namespace

Command add_tune(CLI::App& app) {
  auto arguments = std::make_shared<TuneArguments>();
  tune::Options& options = arguments->options;
  add_pipeline_options(app, arguments->pipeline);
  add_script_options(app, arguments->script);
  app.add_option("--target", options.target_samples_per_second, "samples/s that are enough")
      ->type_name("SAMPLES_PER_SECOND");
  app.add_option("--budget", options.budget_seconds, "seconds of measuring at most (120)")
      ->type_name("SECONDS");
  add_allow_option(app, arguments->allowed,
                   "also try what changes training, such as the batch size");
  app.add_option("--scratch", options.scratch,
                 "also try a cache in a file, and a data set that is written once, in this folder")
      ->type_name("DIR");
  app.add_option("--resume", arguments->resume, "go on from what an earlier --json holds")
      ->type_name("FILE");
  app.add_option("--keep", arguments->keep, "write the tuned pipeline, or the settings of a script")
      ->type_name("FILE");
  app.add_option("--json", arguments->json, "write the ladder as JSON; - is standard output")
      ->type_name("FILE");
  app.add_flag("--no-progress", arguments->no_progress, "no progress on standard error");
  app.add_option("--color", arguments->color, "colour: auto is on a terminal")
      ->type_name("auto|always|never");
  return [arguments] { return run(*arguments); };
}

}  // namespace cachebisect::cli
