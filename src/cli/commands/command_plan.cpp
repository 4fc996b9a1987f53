// `plan`: what a measured job would reach on other machines.
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/commands.hpp"
#include "output/output_file.hpp"
#include "shell/terminal.hpp"
#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/plan/machines.hpp"
#include "cachebisect/plan/plan.hpp"
#include "cachebisect/plan/plan_writers.hpp"
#include "cachebisect/report/json/read_report.hpp"

namespace cachebisect::cli {
namespace {

struct PlanArguments {
  std::string report;
  std::string machines;
  std::vector<double> cores;
  std::string json;
  std::string color = "auto";
};

/// Those of the file, and the measured one with other numbers of cores.
std::vector<plan::Machine> machines_of(const PlanArguments& arguments) {
  std::vector<plan::Machine> machines;
  if (!arguments.machines.empty()) machines = plan::load_machines(arguments.machines);
  for (const double cores : arguments.cores) {
    if (!(cores > 0)) throw Error(ErrorKind::usage, "--cores: numbers above 0, such as 4,8,16");
    machines.push_back({.name = "this one, " + format_number(cores) + " cores", .cores = cores});
  }
  if (machines.empty()) {
    throw Error(ErrorKind::usage,
                "--machines FILE or --cores 4,8,16 is needed: what the job is to run on");
  }
  return machines;
}

int run(const PlanArguments& arguments) {
  const TextOptions text = text_options(arguments.color, STDOUT_FILENO);
  std::optional<OutputFile> json;
  if (!arguments.json.empty() && arguments.json != "-") json.emplace(arguments.json);
  const plan::Plan plan = make_plan(load_report(arguments.report), machines_of(arguments));
  if (json) json->commit(to_json(plan));
  std::cout << (arguments.json == "-" ? to_json(plan) : to_text(plan, text)) << std::flush;
  return 0;
}

}  // namespace

Command add_plan(CLI::App& app) {
  auto arguments = std::make_shared<PlanArguments>();
  app.add_option("FILE", arguments->report, "a report of --json, which is a recording of its run")
      ->required();
  app.add_option("--machines", arguments->machines,
                 "a JSON list of machines: name, cores, accelerators, speeds, price")
      ->type_name("FILE");
  app.add_option("--cores", arguments->cores, "the measured machine with so many cores")
      ->delimiter(',')
      ->type_name("N,...");
  app.add_option("--json", arguments->json, "write the plan as JSON; - is standard output")
      ->type_name("FILE");
  app.add_option("--color", arguments->color, "colour: auto is on a terminal")
      ->type_name("auto|always|never");
  return [arguments] { return run(*arguments); };
}

}  // namespace cachebisect::cli
