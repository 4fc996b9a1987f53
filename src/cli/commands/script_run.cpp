#include "commands/script_run.hpp"

#include <csignal>
#include <filesystem>
#include <map>
#include <system_error>

#include "shell/log.hpp"
#include <CLI/CLI.hpp>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/launch/hook_folder.hpp"
#include "cachebisect/remote/stop_event.hpp"
#include "cachebisect/remote/wait.hpp"

namespace cachebisect::cli {
namespace {

/// What the command may take to end by itself after Ctrl-C, and after a signal; within what a
/// session may take then.
constexpr double kExitSeconds = 5;
/// Without Ctrl-C it may be saving its work: it is waited for, and that is said after a while. One
/// that has been measured and does not answer may not be ending at all.
constexpr double kQuietSeconds = 2;
constexpr double kSilentSeconds = 60;
/// What the system may take to report the end of a command whose connection has ended.
constexpr double kReportSeconds = 0.2;
constexpr double kSignalSeconds = 5;

std::map<std::string, std::string> environment(const std::string& socket, const std::string& hook,
                                               const ScriptArguments& arguments,
                                               const std::string& then) {
  std::map<std::string, std::string> added = hook_environment(hook);
  added.emplace("CACHEBISECT_SOCKET", socket);
  added.emplace("CACHEBISECT_PROTECT", arguments.protect ? "1" : "0");
  added.emplace("CACHEBISECT_THEN", then);
  if (arguments.samples_per_batch) {
    added.emplace("CACHEBISECT_SAMPLES_PER_BATCH", std::to_string(*arguments.samples_per_batch));
  }
  if (arguments.loader) added.emplace("CACHEBISECT_LOADER", std::to_string(*arguments.loader));
  if (!arguments.iterator.empty()) added.emplace("CACHEBISECT_ITERATOR", arguments.iterator);
  return added;
}

}  // namespace

ScriptRun::ScriptRun(const ScriptArguments& script, const AttachArguments& attach)
    : arguments_(script),
      attach_(attach),
      hook_(find_hook_folder(script.hook)),
      listener_(folder_.path() + "/socket"),
      attached_(attach, listener_) {}

AttachedRun& ScriptRun::begin(SessionTools& tools, bool stdout_to_stderr) {
  start(stdout_to_stderr);
  if (!attached_.attach(tools, child_->descriptor())) fail_without_loader();
  return attached_;
}

Error ScriptRun::with_end_of_command(const Error& error) {
  if (error.kind() != ErrorKind::data || !ends_within(kReportSeconds, {})) return error;
  const ChildStatus status = *child_->status();
  if (status.signal == 0) return error;
  const char* const hint =
      status.signal == SIGKILL ? ", as the system does when memory runs out" : "";
  return {ErrorKind::data, "the command ended " + status.text() + hint + "; " + error.what()};
}

void ScriptRun::start(bool stdout_to_stderr) {
  const std::scoped_lock lock(mutex_);
  child_.emplace(ChildOptions{
      .words = arguments_.command,
      .environment = environment(listener_.path(), hook_, arguments_, attach_.then),
      .stdout_to_stderr = stdout_to_stderr,
  });
}

void ScriptRun::fail_without_loader() {
  const ChildStatus status = *child_->status();
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
  if (!child_) return end.exit_code;
  const bool is_caught = end.signals.exit_code() != 0;
  const bool goes_on = told && attach_.then == "continue" && !is_caught;
  if (goes_on)
    static_cast<void>(ends_within(std::nullopt, end.signals.token()));
  else if (!is_caught)
    wait_for_end(told, end.signals.token());
  const int caught = end.signals.exit_code();
  end_command(told && is_caught, caught == 0 ? SIGTERM : caught - kSignalBase);
  if (caught != 0) return caught;
  const bool failed = goes_on && end.exit_code == 0 && !child_->status()->ok();
  return failed ? exit_code(ErrorKind::data) : end.exit_code;
}

/// Until the command has ended by itself, `stop`, or --grace. `told`: it knows that it ends.
void ScriptRun::wait_for_end(bool told, const std::stop_token& stop) {
  auto patience = arguments_.grace_seconds;
  if (!patience && !told) patience = attached_.has_begun() ? kSilentSeconds : 0;
  const double quiet = std::min(kQuietSeconds, patience.value_or(kQuietSeconds));
  if (ends_within(quiet, stop) || stop.stop_requested() || patience == quiet) return;
  print_error("waiting for the command to end" +
              (patience ? ", for at most " + format_seconds(*patience) : std::string()) +
              ": it may be saving its work. Ctrl-C ends it");
  if (patience) *patience -= quiet;
  static_cast<void>(ends_within(patience, stop));
}

/// `ending`: it may be ending by itself. What is left is killed with child_.
void ScriptRun::end_command(bool ending, int signal) {
  if (ends_within(ending ? kExitSeconds : 0, {})) return;
  child_->send_signal(signal);
  if (ends_within(kSignalSeconds, {})) return;
  child_->send_signal(SIGTERM);
  static_cast<void>(ends_within(kSignalSeconds, {}));
}

/// False if the command still runs after `seconds` (empty: without a limit) or on `stop`.
bool ScriptRun::ends_within(std::optional<double> seconds, const std::stop_token& stop) {
  const StopEvent stopped(stop);
  const auto deadline = seconds ? std::optional(monotonic_seconds() + *seconds) : std::nullopt;
  static_cast<void>(wait_readable({child_->descriptor(), stopped.descriptor()}, deadline));
  return child_->status().has_value();
}

void ScriptRun::abandon() {
  const std::scoped_lock lock(mutex_);
  if (child_) child_->send_signal(SIGKILL);
  std::error_code ignored;
  std::filesystem::remove_all(folder_.path(), ignored);
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
