#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands/commands.hpp"
#include "commands/pipeline_options.hpp"
#include "commands/script_pair.hpp"
#include "output/comparison_output.hpp"
#include "shell/log.hpp"
#include "shell/signals.hpp"
#include "shell/terminal.hpp"
#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cachebisect/base/current_error.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/compare/compare_jobs.hpp"
#include "cachebisect/compare/compare_reports.hpp"
#include "cachebisect/replay/job/open_job.hpp"
#include "cachebisect/report/json/read_report.hpp"

namespace cachebisect::cli {
namespace {

struct CompareArguments {
  std::string a;
  std::string b;
  CompareOptions options;
  std::vector<std::string> more;  ///< after them: the rest of two commands
  bool run = false;
  PipelineOptions pipeline;  ///< of both, with --run
  ScriptArguments script;    ///< of both commands, with --run
  double budget_seconds = CompareJobsOptions{}.budget_seconds;
  bool no_progress = false;
  std::string format = "text";
  std::string color = "auto";
  std::string json;
};

Report report_in(const std::string& file) {
  if (file != "-") return load_report(file);
  return read_report(std::string{std::istreambuf_iterator<char>(std::cin), {}}, "standard input");
}

void check(const CompareArguments& arguments) {
  const auto& confidence = arguments.options.confidence;
  if (confidence && !(*confidence >= 0.5 && *confidence < 1)) {
    throw Error(ErrorKind::usage, "--confidence: a share from 0.5 to below 1, such as 0.99");
  }
  if (arguments.a == "-" && arguments.b == "-") {
    throw Error(ErrorKind::usage, "only one of the two can come from standard input");
  }
  if (!(arguments.budget_seconds > 0)) {
    throw Error(ErrorKind::usage, "--budget: seconds greater than 0");
  }
}

Job open_pipeline(const std::string& file, const CompareArguments& arguments,
                  const Registry& registry, const std::stop_token& stop) {
  PipelineOptions options = arguments.pipeline;
  options.file = file;
  return open_job(load_spec(options, registry), registry, {.opening = {.stop = stop}});
}

CompareJobsOptions job_options(const CompareArguments& arguments, ProgressLine& progress,
                               const std::stop_token& stop) {
  const CompareJobsOptions usual;
  return {.budget_seconds = arguments.budget_seconds,
          .confidence = arguments.options.confidence.value_or(usual.confidence),
          .seed = arguments.pipeline.seed.value_or(usual.seed),
          .force = arguments.options.force,
          .gates = arguments.options.gates,
          .progress = [&progress](const Progress& now) { progress.show(now); },
          .stop = stop};
}

/// Measures two pipelines in turns.
Comparison run_jobs(const CompareArguments& arguments, const Registry& registry,
                    ProgressLine& progress, const std::stop_token& stop) {
  const Job job_a = open_pipeline(arguments.a, arguments, registry, stop);
  const Job job_b = open_pipeline(arguments.b, arguments, registry, stop);
  PipelineReplayer a = job_a.make_replayer();
  PipelineReplayer b = job_b.make_replayer();
  return compare(JobSource{&a, arguments.a}, JobSource{&b, arguments.b},
                 job_options(arguments, progress, stop));
}

/// The words of two commands; empty if A and B are files.
std::vector<std::vector<std::string>> commands_of(const CompareArguments& arguments) {
  std::vector<std::string> words{arguments.a, arguments.b};
  words.insert(words.end(), arguments.more.begin(), arguments.more.end());
  std::vector<std::vector<std::string>> commands = split_commands(words);
  if (commands.empty() && !arguments.more.empty()) {
    throw Error(ErrorKind::usage,
                "compare takes two files, or two commands: compare --run -- python a.py -- python "
                "b.py");
  }
  if (!commands.empty() && !arguments.run) {
    throw Error(ErrorKind::usage, "two commands are compared with --run");
  }
  return commands;
}

ComparisonOutput open_output(const CompareArguments& arguments) {
  return {arguments.format, text_options(arguments.color, STDOUT_FILENO), arguments.json};
}

int run_pipelines(const CompareArguments& arguments) {
  ComparisonOutput output = open_output(arguments);
  const Registry registry = make_registry(arguments.pipeline.plugins);
  SignalWatch signals({.report = [](SignalWatch&) { print_error("interrupted"); },
                       .remove_temporaries = [&] { output.discard(); }});
  ProgressLine progress(!arguments.no_progress && isatty(STDERR_FILENO) != 0);
  const auto work = [&] {
    const Comparison comparison = run_jobs(arguments, registry, progress, signals.token());
    signals.begin_output();
    progress.clear();
    output.write(comparison, [&] { signals.begin_streams(); });
    return comparison.fails() ? exit_code(ErrorKind::gate) : 0;
  };
  return run_until_signal(signals, work, [] { print_error("interrupted before the first pair"); });
}

/// One comparison of two scripts: signals, progress and outputs around it.
class ScriptComparison {
 public:
  ScriptComparison(const CompareArguments& arguments,
                   std::vector<std::vector<std::string>> commands)
      : arguments_(arguments),
        output_(open_output(arguments)),
        pair_(arguments.script, std::move(commands.at(0)), std::move(commands.at(1))),
        signals_({.report = [](SignalWatch&) { print_error("interrupted"); },
                  .remove_temporaries = [this] { abandon(); }}),
        log_(LogLevel::warn),
        progress_(!arguments.no_progress && isatty(STDERR_FILENO) != 0),
        tools_{{}, log_, progress_} {
    tools_.options.stop = signals_.token();
  }

  int run() {
    const auto interrupted = [] { print_error("interrupted before the first pair"); };
    try {
      return end(run_until_signal(
          signals_, [this] { return compare(); }, interrupted));
    } catch (...) {
      const Error error = current_error(ErrorKind::internal);
      said_ = error.what();
      end(exit_code(error.kind()));
      throw Error(error);
    }
  }

 private:
  int compare() {
    const CompareJobsOptions options = job_options(arguments_, progress_, signals_.token());
    // What the scripts print is no part of a document.
    const bool is_document = arguments_.json == "-" || arguments_.format == "markdown";
    const Comparison comparison = pair_.compare(tools_, options, is_document);
    said_ = comparison.findings.empty() ? "" : comparison.findings.front();
    signals_.begin_output();
    progress_.clear();
    output_.write(comparison, [this] { signals_.begin_streams(); });
    return comparison.fails() ? exit_code(ErrorKind::gate) : 0;
  }
  int end(int code) {
    signals_.begin_output();
    return pair_.end({code, said_, signals_});
  }
  void abandon() {
    output_.discard();
    pair_.abandon();
  }

  const CompareArguments& arguments_;
  ComparisonOutput output_;
  ScriptPair pair_;
  SignalWatch signals_;
  Log log_;
  ProgressLine progress_;
  SessionTools tools_;
  std::string said_;
};

int run_reports(const CompareArguments& arguments) {
  ComparisonOutput output = open_output(arguments);
  const Report a = report_in(arguments.a);
  const Report b = report_in(arguments.b);
  const Comparison comparison = compare({&a, arguments.a}, {&b, arguments.b}, arguments.options);
  output.write(comparison, [] {});
  return comparison.fails() ? exit_code(ErrorKind::gate) : 0;
}

int run(const CompareArguments& arguments) {
  check(arguments);
  auto commands = commands_of(arguments);
  if (!commands.empty()) return ScriptComparison(arguments, std::move(commands)).run();
  return arguments.run ? run_pipelines(arguments) : run_reports(arguments);
}

void add_run_options(CLI::App& app, CompareArguments& arguments) {
  app.add_flag("--run", arguments.run,
               "A and B are pipelines, or two commands (--run -- python a.py -- python b.py): "
               "measure both in turns, several times more precisely");
  app.add_option("--budget", arguments.budget_seconds, "seconds of measuring at most (120)")
      ->type_name("SECONDS");
  app.add_flag("--no-progress", arguments.no_progress, "no progress on standard error");
  add_override_options(app, arguments.pipeline);
  add_script_settings(app, arguments.script);
}

}  // namespace

Command add_compare(CLI::App& app) {
  auto arguments = std::make_shared<CompareArguments>();
  CompareOptions& options = arguments->options;
  app.add_option("A", arguments->a, "report before the change; - is standard input")->required();
  app.add_option("B", arguments->b, "report after it")->required();
  app.add_option("more", arguments->more, "with --run: the rest of two commands, -- between them")
      ->type_name("...");
  add_run_options(app, *arguments);
  app.add_option("--fail-on", options.gates,
                 "exit 5 if a figure certainly changed so, e.g. 'live<-5%' (repeatable)")
      ->type_name("GATE")
      ->expected(1)
      ->take_all();
  app.add_flag("--force", options.force, "compare what is not comparable");
  app.add_option("--confidence", options.confidence, "of every interval (that of the reports)")
      ->type_name("SHARE");
  app.add_option("--format", arguments->format, "text or markdown")->type_name("text|markdown");
  app.add_option("--color", arguments->color, "colour: auto is on a terminal")
      ->type_name("auto|always|never");
  app.add_option("--json", arguments->json, "write the comparison as JSON; - is standard output")
      ->type_name("FILE");
  return [arguments] { return run(*arguments); };
}

}  // namespace cachebisect::cli
