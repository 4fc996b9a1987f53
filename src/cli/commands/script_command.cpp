#include "commands/script_command.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

#include "shell/log.hpp"

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
constexpr double kSignalSeconds = 5;

}  // namespace

std::map<std::string, std::string> measuring_environment(const ScriptArguments& arguments,
                                                         const std::string& then) {
  std::map<std::string, std::string> added;
  added.emplace("CACHEBISECT_PROTECT", arguments.protect ? "1" : "0");
  added.emplace("CACHEBISECT_THEN", then);
  if (arguments.samples_per_batch) {
    added.emplace("CACHEBISECT_SAMPLES_PER_BATCH", std::to_string(*arguments.samples_per_batch));
  }
  if (arguments.loader) added.emplace("CACHEBISECT_LOADER", std::to_string(*arguments.loader));
  if (!arguments.iterator.empty()) added.emplace("CACHEBISECT_ITERATOR", arguments.iterator);
  return added;
}

ScriptCommand::ScriptCommand(const std::string& hook) : hook_(find_hook_folder(hook)) {}

void ScriptCommand::start(const std::vector<std::string>& words,
                          std::map<std::string, std::string> environment, bool stdout_to_stderr) {
  environment.merge(hook_environment(hook_));
  environment.emplace("CACHEBISECT_TOKEN", "");  // Training does not need to know it.
  const std::scoped_lock lock(mutex_);
  child_.emplace(ChildOptions{
      .words = words,
      .environment = std::move(environment),
      .stdout_to_stderr = stdout_to_stderr,
  });
}

bool ScriptCommand::ends_within(std::optional<double> seconds, const std::stop_token& stop) {
  const StopEvent stopped(stop);
  const auto deadline = seconds ? std::optional(monotonic_seconds() + *seconds) : std::nullopt;
  static_cast<void>(wait_readable({child_->descriptor(), stopped.descriptor()}, deadline));
  return child_->status().has_value();
}

void ScriptCommand::wait_for_end(Told told, std::optional<double> grace_seconds,
                                 const std::stop_token& stop) {
  auto patience = grace_seconds;
  if (!patience && told != Told::yes) patience = told == Told::no ? kSilentSeconds : 0;
  const double quiet = std::min(kQuietSeconds, patience.value_or(kQuietSeconds));
  if (ends_within(quiet, stop) || stop.stop_requested() || patience == quiet) return;
  print_error("waiting for the command to end" +
              (patience ? ", for at most " + format_seconds(*patience) : std::string()) +
              ": it may be saving its work. Ctrl-C ends it");
  if (patience) *patience -= quiet;
  static_cast<void>(ends_within(patience, stop));
}

void ScriptCommand::end(bool ending, int signal) {
  if (ends_within(ending ? kExitSeconds : 0, {})) return;
  child_->send_signal(signal);
  if (ends_within(kSignalSeconds, {})) return;
  child_->send_signal(SIGTERM);
  static_cast<void>(ends_within(kSignalSeconds, {}));
}

void ScriptCommand::kill() {
  const std::scoped_lock lock(mutex_);
  if (child_) child_->send_signal(SIGKILL);
}

}  // namespace cachebisect::cli
