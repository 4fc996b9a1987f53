// cachebisect: finds the stage of an input pipeline that starves the accelerator.
#include <csignal>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "commands/commands.hpp"
#include "shell/log.hpp"
#include <CLI/CLI.hpp>

#include "cachebisect/base/current_error.hpp"
#include "cachebisect/base/printable.hpp"
#include "cachebisect/base/version.hpp"

namespace {

using cachebisect::cli::Command;

struct Subcommand {
  CLI::App* app;
  Command run;
};

/// An option of several values would take the "--" before a command for its own end.
void leave_separator(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) option->allow_extra_args(false);
  }
}

Subcommand add(CLI::App& app, const char* name, const char* doc,
               Command (*add_options)(CLI::App&)) {
  CLI::App* subcommand = app.add_subcommand(name, doc);
  Command command = add_options(*subcommand);
  leave_separator(*subcommand);
  return {subcommand, std::move(command)};
}

/// Help and version, or what is wrong with the command line.
int finish_parsing(const CLI::App& app, const CLI::ParseError& error) {
  std::stringstream out;
  std::stringstream err;
  const int code = app.exit(error, out, err);
  std::cout << out.str();
  // What was typed is part of the message.
  for (std::string line; std::getline(err, line);) std::cerr << cachebisect::printable(line) + '\n';
  return code == 0 ? 0 : cachebisect::exit_code(cachebisect::ErrorKind::usage);
}

int parse_and_run(int argc, char** argv) {
  CLI::App app(
      "Finds the stage of an input pipeline that starves the accelerator: replays real training "
      "steps\n"
      "from a cache at every stage boundary and reports where throughput drops and how certain "
      "that is.");
  app.set_version_flag("--version", std::string("cachebisect ") + cachebisect::version());
  app.footer(
      "Exit codes: 0 done, 1 internal error, 2 usage or pipeline file, 3 a stage or the step "
      "failed,\n"
      "4 device, 5 a gate (--fail-on) failed, 6 an output could not be written, 130/143/129 "
      "interrupted.");
  const Command bisect = cachebisect::cli::add_bisect(app);
  const std::vector<Subcommand> subcommands{
      add(app, "bisect", "find the stage where throughput drops (the default)",
          cachebisect::cli::add_bisect),
      add(app, "run", "bisect the DataLoader of an unchanged Python script: run -- python train.py",
          cachebisect::cli::add_run),
      add(app, "join", "start the command of another node of a job that `run --nodes N` measures",
          cachebisect::cli::add_join),
      add(app, "attach", "bisect a training process that connects to a socket",
          cachebisect::cli::add_attach),
      add(app, "profile", "profile the training loop: by action, by stage",
          cachebisect::cli::add_profile),
      add(app, "time", "time every batch of a pipeline or a Python script, by its parts",
          cachebisect::cli::add_time),
      add(app, "demo", "a planted chain, with a moving picture of what is measured: ten seconds",
          cachebisect::cli::add_demo),
      add(app, "tune", "change a pipeline or a loader until the step is the limit; keep what gains",
          cachebisect::cli::add_tune),
      add(app, "prepare", "write a data set once, at a stage, as shards that are read fast",
          cachebisect::cli::add_prepare),
      add(app, "plan", "what a measured job would reach on other machines, and at what price",
          cachebisect::cli::add_plan),
      add(app, "stages", "list the stages, or describe one", cachebisect::cli::add_stages),
      add(app, "check", "validate a pipeline file and print its chain",
          cachebisect::cli::add_check),
      add(app, "doctor", "check machine, device and noise, and what results can be trusted",
          cachebisect::cli::add_doctor),
      add(app, "selftest", "measure planted chains: can verdicts be trusted on this machine?",
          cachebisect::cli::add_selftest),
      add(app, "compare", "two reports side by side: did a change make it faster?",
          cachebisect::cli::add_compare),
      add(app, "report", "analyse a recorded run again, and write it in any format",
          cachebisect::cli::add_report),
      add(app, "history", "the trend of the runs that --append has collected",
          cachebisect::cli::add_history),
      add(app, "chunks",
          "what reading a sample costs, for each of several chunk shapes of an array",
          cachebisect::cli::add_chunks),
      add(app, "storage-emulator",
          "serve a folder over HTTP as slowly as a storage server of your choice",
          cachebisect::cli::add_storage_emulator),
      add(app, "mcp", "an MCP server for assistants (of the Python package)",
          cachebisect::cli::add_mcp),
      add(app, "completion", "completion for bash, zsh and fish, and the man page",
          cachebisect::cli::add_completion),
      add(app, "schema", "print the JSON Schema of pipeline files, reports or messages",
          cachebisect::cli::add_schema)};
  app.require_subcommand(0, 1);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return finish_parsing(app, error);
  }
  for (const Subcommand& subcommand : subcommands) {
    if (subcommand.app->parsed()) return subcommand.run();
  }
  return bisect();
}

}  // namespace

int main(int argc, char** argv) {
  // A reader that has exited costs its own output, not the files.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // A write beyond the limit of a file then fails, and is told.
  try {
    return parse_and_run(argc, argv);
  } catch (...) {
    const cachebisect::Error error = cachebisect::current_error(cachebisect::ErrorKind::internal);
    const bool internal = error.kind() == cachebisect::ErrorKind::internal;
    cachebisect::cli::print_error((internal ? "internal error: " : "") + std::string(error.what()));
    if (internal) cachebisect::cli::print_error("please report this with the command line");
    return cachebisect::exit_code(error.kind());
  }
}
