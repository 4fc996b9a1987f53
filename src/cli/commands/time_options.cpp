#include "commands/time_options.hpp"

#include <cmath>
#include <map>

#include <CLI/CLI.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/protocol/settings.hpp"

namespace cachebisect::cli {
namespace {

/// The value of train.precision. Lightning's names are known too.
std::string precision_of(const std::string& typed) {
  static const std::map<std::string, std::string> kNames{{"32", "fp32"},
                                                         {"32-true", "fp32"},
                                                         {"fp32", "fp32"},
                                                         {"16-mixed", "fp16-mixed"},
                                                         {"fp16-mixed", "fp16-mixed"},
                                                         {"bf16-mixed", "bf16-mixed"}};
  const auto found = kNames.find(typed);
  if (found == kNames.end()) {
    throw Error(ErrorKind::usage, "--precision " + typed + ": one of 32, 16-mixed, bf16-mixed");
  }
  return found->second;
}

void check_script_options(const TimeArguments& a) {
  const PipelineOptions& p = a.pipeline;
  if (!p.file.empty() || !p.sets.empty() || p.device || p.workers || p.seed || !p.plugins.empty() ||
      !a.batch_sizes.empty() || !a.precision.empty()) {
    throw Error(ErrorKind::usage,
                "a command after -- sets its own data, batch size, device and precision; of the "
                "options, only --epochs, --max-batches, --max-seconds, --save-dir, --json, --then, "
                "--hook, --color, --quiet and --no-progress apply to it");
  }
}

/// Throws Error(usage) for options that a file of LightningCLI does not have.
void check_lightning_options(const TimeArguments& a) {
  const PipelineOptions& p = a.pipeline;
  check_lightning(a.lightning, !p.file.empty() || !a.command.empty());
  if (!a.lightning.given()) return;
  if (!p.sets.empty() || p.workers || p.seed || !p.plugins.empty() || !a.batch_sizes.empty()) {
    throw Error(ErrorKind::usage,
                "a file of LightningCLI sets its own data and batch size; of the options of a "
                "pipeline, only --device and --precision apply to it");
  }
}

}  // namespace

void add_time_options(CLI::App& app, TimeArguments& a) {
  add_pipeline_options(app, a.pipeline);
  add_lightning_options(app, a.lightning);
  app.remove_option(app.get_option("--batch-size"));
  app.add_option("--batch-size", a.batch_sizes,
                 "samples in a batch; several sizes are compared: 16,32,64")
      ->delimiter(',')
      ->expected(1)
      ->take_all()
      ->type_name("N,...");
  app.add_option("--epochs", a.epochs, "how often the data set is read (2)")->type_name("N");
  app.add_option("--save-dir", a.save_dir, "folder of the files (results/benchmark/TIMESTAMP)")
      ->type_name("DIR");
  app.add_option("--json", a.json, "write the summary as JSON; - is standard output")
      ->type_name("FILE");
  app.add_option("--precision", a.precision,
                 "32, 16-mixed or bf16-mixed, in place of the pipeline's or the file's own")
      ->type_name("32|16-mixed|bf16-mixed");
  app.add_option("--max-batches", a.max_batches, "end after so many batches (0: never)")
      ->type_name("N");
  app.add_option("--max-seconds", a.max_seconds,
                 "end after so many seconds, shared by all batch sizes (60; 0: never)")
      ->type_name("SECONDS");
  app.add_option("--hook", a.hook, "folder of the Python hook (that of the installed package)")
      ->type_name("DIR");
  app.add_option("--then", a.then, "what a script does after its last timed batch (exit)")
      ->check(CLI::IsMember({"exit", "continue"}))
      ->type_name("exit|continue");
  app.add_option("command", a.command, "after --: the Python command to time, unchanged")
      ->type_name("-- CMD ARGS...");
  app.add_flag("--quiet", a.quiet, "no answer on standard output");
  app.add_flag("--no-progress", a.no_progress, "no progress on standard error");
  app.add_option("--color", a.color, "colour: auto is on a terminal")
      ->type_name("auto|always|never");
}

TimingOptions timing_options(const TimeArguments& a) {
  check_lightning_options(a);
  if (!a.command.empty()) check_script_options(a);
  constexpr int kMaxEpochs = 1'000'000;
  if (a.epochs < 1 || a.epochs > kMaxEpochs) {
    throw Error(ErrorKind::usage, "--epochs: a whole number from 1 to 1000000");
  }
  if (!(a.max_seconds >= 0) || !std::isfinite(a.max_seconds)) {
    throw Error(ErrorKind::usage, "--max-seconds: 0 or more seconds");
  }
  TimingOptions options;
  options.epochs = a.epochs;
  options.max_batches = a.max_batches;
  options.max_seconds = a.max_seconds;
  if (!a.batch_sizes.empty()) {
    options.max_seconds /= static_cast<double>(a.batch_sizes.size());
  }
  return options;
}

std::vector<std::string> timed_command(const TimeArguments& a) {
  if (!a.lightning.given()) return a.command;
  std::vector<std::string> more{"--epochs", std::to_string(a.epochs)};
  if (!a.precision.empty()) more.insert(more.end(), {"--precision", a.precision});
  if (a.pipeline.device) more.insert(more.end(), {"--device", *a.pipeline.device});
  return lightning_command(a.lightning, a.hook, more);
}

PipelineOptions pipeline_options(const TimeArguments& a) {
  PipelineOptions options = a.pipeline;
  if (!a.precision.empty()) {
    options.sets.push_back("train.precision=" + precision_of(a.precision));
  }
  return options;
}

}  // namespace cachebisect::cli
