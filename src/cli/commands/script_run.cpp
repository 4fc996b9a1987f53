#include "commands/script_run.hpp"

#include <csignal>
#include <utility>

#include <CLI/CLI.hpp>

namespace cachebisect::cli {
namespace {

/// What the system may take to report the end of a command whose connection has ended.
constexpr double kReportSeconds = 0.2;

}  // namespace

ScriptRun::ScriptRun(const ScriptArguments& script, const AttachArguments& attach,
                     const NodeArguments& nodes)
    : arguments_(script),
      attach_(attach),
      listener_(folder_.path() + "/socket"),
      nodes_(listen_for_nodes(nodes, measuring_environment(script, attach.then))),
      attached_(attach, listener_, nodes_.get()),
      command_(script.hook) {}

AttachedRun& ScriptRun::begin(SessionTools& tools, bool stdout_to_stderr) {
  auto environment = measuring_environment(arguments_, attach_.then);
  environment.emplace("CACHEBISECT_SOCKET", listener_.path());
  command_.start(arguments_.command, std::move(environment), stdout_to_stderr);
  // After the start: the command keeps the limit that the user has set.
  if (nodes_) allow_many_connections();
  if (!attached_.attach(tools, command_.descriptor())) fail_without_loader();
  return attached_;
}

Error ScriptRun::with_end_of_command(const Error& error) {
  const bool started = command_.has_started();
  if (error.kind() != ErrorKind::data || !started || !command_.ends_within(kReportSeconds, {})) {
    return error;
  }
  const ChildStatus status = *command_.status();
  if (status.signal == 0) return error;
  const char* const hint =
      status.signal == SIGKILL ? ", as the system does when memory runs out" : "";
  return {ErrorKind::data, "the command ended " + status.text() + hint + "; " + error.what()};
}

void ScriptRun::fail_without_loader() {
  const ChildStatus status = *command_.status();
  const std::string seen = attached_.seen();
  if (!status.ok()) {
    throw Error(ErrorKind::data, "the command ended " + status.text() +
                                     " before a loader was found; see its own messages");
  }
  throw Error(ErrorKind::usage,
              "the command ended without iterating a torch.utils.data.DataLoader between two "
              "training steps; seen: " +
                  (seen.empty() ? "no Python process that loaded the hook" : seen) +
                  ". For other iterators, use --iterator package.module:Class, or call "
                  "cachebisect.bisect(loader, step) in the script");
}

int ScriptRun::end(const SessionEnd& end) {
  const bool told = attached_.finish(end);
  if (!command_.has_started()) return end.exit_code;
  const bool is_caught = end.signals.exit_code() != 0;
  const bool goes_on = told && attach_.then == "continue" && !is_caught;
  if (goes_on) {
    static_cast<void>(command_.ends_within(std::nullopt, end.signals.token()));
  } else if (!is_caught) {
    const Told how = told ? Told::yes : attached_.has_begun() ? Told::no : Told::never;
    command_.wait_for_end(how, arguments_.grace_seconds, end.signals.token());
  }
  const int caught = end.signals.exit_code();
  command_.end(told && is_caught, caught == 0 ? SIGTERM : caught - kSignalBase);
  if (caught != 0) return caught;
  const bool failed = goes_on && end.exit_code == 0 && !command_.status()->ok();
  return failed ? exit_code(ErrorKind::data) : end.exit_code;
}

void ScriptRun::abandon() {
  command_.kill();
  folder_.remove();
}

void add_script_settings(CLI::App& app, ScriptArguments& arguments) {
  app.add_option("--hook", arguments.hook,
                 "folder of the Python hook (that of the installed package)")
      ->type_name("DIR");
  app.add_option("--loader", arguments.loader,
                 "measure the N-th DataLoader that the script iterates, from 1 (the one whose "
                 "batches lie between optimizer steps)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  app.add_option("--iterator", arguments.iterator,
                 "what yields the batches, if it is no DataLoader: a class, a method or a function "
                 "of a module that the script imports, or of __main__")
      ->type_name("MODULE:NAME")
      ->excludes("--loader");
  app.add_option("--grace", arguments.grace_seconds,
                 "seconds that the command may take to end after the verdict, such as for a last "
                 "checkpoint (as long as it needs)")
      ->type_name("SECONDS")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--samples-per-batch", arguments.samples_per_batch,
                 "what each batch counts as (as the loader's sampler says, else the rows of its "
                 "first tensor)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  app.add_flag("--protect,!--no-protect", arguments.protect,
               "what measured steps save with torch.save() or safetensors goes to a temporary "
               "folder, and checkpoints of frameworks are left out (yes)");
}

void add_script_options(CLI::App& app, ScriptArguments& arguments) {
  add_script_settings(app, arguments);
  app.add_option("command", arguments.command, "after --: the command that trains")
      ->type_name("-- CMD ARGS...");
}

}  // namespace cachebisect::cli
