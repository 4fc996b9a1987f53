// `report`: analyses a recorded run again, and writes it in any format.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "commands/commands.hpp"
#include "commands/quantities.hpp"
#include "commands/verdict_gate.hpp"
#include "output/report_outputs.hpp"
#include "shell/log.hpp"
#include <CLI/CLI.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/bisect/reanalyse.hpp"
#include "cachebisect/report/json/read_report.hpp"

namespace cachebisect::cli {
namespace {

struct ReportArguments {
  std::string file;
  std::string min_drop;  ///< empty: that of the run
  ReanalyseOptions again;
  VerdictGate gate;
  ReportDestinations to;
};

/// A report of other options must not replace the recording.
void refuse_input_as_output(const ReportArguments& arguments) {
  for (const auto& [option, name] : arguments.to.files) {
    std::error_code ignored;
    if (name.empty() || name == "-" || !std::filesystem::equivalent(arguments.file, name, ignored))
      continue;
    std::string message(option);
    message.append(" ").append(name).append(": would replace the recording itself");
    throw Error(ErrorKind::usage, message + "; give another name");
  }
}

bool asks_anew(const ReanalyseOptions& again) {
  return again.min_drop || again.confidence || again.expect_samples_per_second ||
         again.cost_per_hour || !again.what_ifs.empty();
}

/// Reports of older versions can only be written as they are.
Report analysed(const Report& report, const ReportArguments& arguments) {
  ReanalyseOptions again = arguments.again;
  if (!arguments.min_drop.empty()) again.min_drop = parse_share("--min-drop", arguments.min_drop);
  if (report.recording || asks_anew(again)) return reanalyse(report, again);
  print_error("note: " + arguments.file +
              " has no recording (it is of an older version): shown as it was written");
  return report;
}

int run(const ReportArguments& arguments) {
  arguments.gate.check();
  refuse_input_as_output(arguments);
  ReportOutputs outputs(arguments.to);
  const Report report = analysed(load_report(arguments.file), arguments);
  outputs.write(report, [] {});
  return arguments.gate.fails(report) ? exit_code(ErrorKind::gate) : 0;
}

void add_questions(CLI::App& app, ReportArguments& a) {
  app.add_option("--min-drop", a.min_drop, "the smallest drop worth naming (that of the run)")
      ->type_name("SHARE");
  app.add_option("--confidence", a.again.confidence, "of every statement (that of the run)")
      ->type_name("SHARE");
  app.add_option("--what-if", a.again.what_ifs,
                 "predict a change too, e.g. workers=4, crop=free, decode/2 (repeatable)")
      ->type_name("CHANGE")
      ->expected(1)
      ->take_all();
  app.add_option("--expect", a.again.expect_samples_per_second,
                 "samples/s of your own job; warns if the live figure differs")
      ->type_name("SAMPLES_PER_SECOND");
  app.add_option("--cost-per-hour", a.again.cost_per_hour,
                 "price of the whole job; the report says how much of it the loss costs")
      ->type_name("AMOUNT")
      ->check(CLI::PositiveNumber);
}

}  // namespace

Command add_report(CLI::App& app) {
  auto arguments = std::make_shared<ReportArguments>();
  app.add_option("FILE", arguments->file, "a report of --json, which is a recording of its run")
      ->required();
  add_questions(app, *arguments);
  add_verdict_gate(app, arguments->gate);
  add_report_destinations(app, arguments->to);
  return [arguments] { return run(*arguments); };
}

}  // namespace cachebisect::cli
