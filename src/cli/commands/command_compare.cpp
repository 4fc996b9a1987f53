#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/commands.hpp"
#include "commands/pipeline_options.hpp"
#include "output/comparison_output.hpp"
#include "shell/log.hpp"
#include "shell/signals.hpp"
#include "shell/terminal.hpp"
#include <CLI/CLI.hpp>
#include <unistd.h>

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
  bool run = false;
  PipelineOptions pipeline;  ///< of both, with --run
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
  return arguments.run ? run_pipelines(arguments) : run_reports(arguments);
}

void add_run_options(CLI::App& app, CompareArguments& arguments) {
  app.add_flag("--run", arguments.run,
               "A and B are pipelines: measure both in turns, several times more precisely");
  app.add_option("--budget", arguments.budget_seconds, "seconds of measuring at most (120)")
      ->type_name("SECONDS");
  app.add_flag("--no-progress", arguments.no_progress, "no progress on standard error");
  add_override_options(app, arguments.pipeline);
}

}  // namespace

Command add_compare(CLI::App& app) {
  auto arguments = std::make_shared<CompareArguments>();
  CompareOptions& options = arguments->options;
  app.add_option("A", arguments->a, "report before the change; - is standard input")->required();
  app.add_option("B", arguments->b, "report after it")->required();
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
