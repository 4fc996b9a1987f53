// `tune`: changes the pipeline until the training step is the limit, and keeps what gains.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/commands.hpp"
#include "commands/pipeline_options.hpp"
#include "output/output_files.hpp"
#include "shell/log.hpp"
#include "shell/signals.hpp"
#include "shell/terminal.hpp"
#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/tune/ladder_json.hpp"
#include "cachebisect/tune/ladder_text.hpp"
#include "cachebisect/tune/tune.hpp"

namespace cachebisect::cli {
namespace {

struct TuneArguments {
  PipelineOptions pipeline;
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
  for (const std::string& what : arguments.allowed) {
    if (what != "semantic") throw Error(ErrorKind::usage, "--allow " + what + ": semantic");
    options.allow_semantic = true;
  }
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

int run(const TuneArguments& arguments) {
  tune::Options options = checked(arguments);
  TuneOutputs outputs(arguments);
  SignalWatch signals({.report = [](SignalWatch&) { print_error("interrupted"); },
                       .remove_temporaries = [&] { outputs.discard(); }});
  ProgressLine progress(!arguments.no_progress && isatty(STDERR_FILENO) != 0);
  options.stop = signals.token();
  std::string doing;
  options.announce = [&](const std::string& what) { doing = what; };
  options.progress = [&](const Progress& now) { progress.show(doing + ": " + describe(now)); };
  Registry registry;  // keeps plugins open until their errors have been handled
  const auto work = [&] {
    registry = make_registry(arguments.pipeline.plugins);
    const PipelineSpec spec = spec_of(arguments, registry, options.resumed);
    options.seed = spec.seed;
    const tune::Result result = tune::tune(spec, registry, options);
    signals.begin_output();
    progress.clear();
    outputs.write(result, signals);
    return 0;
  };
  return run_until_signal(signals, work,
                          [] { print_error("interrupted before the first diagnosis"); });
}

}  // namespace

Command add_tune(CLI::App& app) {
  auto arguments = std::make_shared<TuneArguments>();
  tune::Options& options = arguments->options;
  add_pipeline_options(app, arguments->pipeline);
  app.add_option("--target", options.target_samples_per_second, "samples/s that are enough")
      ->type_name("SAMPLES_PER_SECOND");
  app.add_option("--budget", options.budget_seconds, "seconds of measuring at most (120)")
      ->type_name("SECONDS");
  app.add_option("--allow", arguments->allowed,
                 "semantic: also try what changes training, such as the batch size")
      ->delimiter(',')
      ->type_name("semantic");
  app.add_option("--resume", arguments->resume, "go on from what an earlier --json holds")
      ->type_name("FILE");
  app.add_option("--keep", arguments->keep, "write the tuned pipeline")->type_name("FILE");
  app.add_option("--json", arguments->json, "write the ladder as JSON; - is standard output")
      ->type_name("FILE");
  app.add_flag("--no-progress", arguments->no_progress, "no progress on standard error");
  app.add_option("--color", arguments->color, "colour: auto is on a terminal")
      ->type_name("auto|always|never");
  return [arguments] { return run(*arguments); };
}

}  // namespace cachebisect::cli
