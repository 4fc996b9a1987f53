// A command that is measured, with the engine's side of it: what `run` and `tune` have in common.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "commands/attached_run.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/launch/child_process.hpp"
#include "cachebisect/remote/socket_listener.hpp"

namespace cachebisect::cli {

struct ScriptArguments {
  std::string hook;
  std::optional<int> loader;
  std::string iterator;  ///< "package.module:Class": what yields batches instead of a DataLoader
  std::optional<double> grace_seconds;
  std::optional<int> samples_per_batch;
  bool protect = true;
  std::vector<std::string> command;
};

/// What a command is started with.
void add_script_settings(CLI::App& app, ScriptArguments& arguments);
/// The same, and the command.
void add_script_options(CLI::App& app, ScriptArguments& arguments);

class ScriptRun {
 public:
  /// Keeps references to both.
  ScriptRun(const ScriptArguments& script, const AttachArguments& attach);

  /// Starts the command, with its standard output on standard error if ours holds a report, and
  /// waits for its training loop. Throws Error if there is none.
  AttachedRun& begin(SessionTools& tools, bool stdout_to_stderr);
  /// The error, or what killed the command if its end is the reason.
  Error with_end_of_command(const Error& error);
  /// Ends the command, or lets it go on to its own end.
  int end(const SessionEnd& end);
  /// If the process has to end at once. Any thread.
  void abandon();

 private:
  void start(bool stdout_to_stderr);
  [[noreturn]] void fail_without_loader();
  void wait_for_end(bool told, const std::stop_token& stop);
  void end_command(bool ending, int signal);
  bool ends_within(std::optional<double> seconds, const std::stop_token& stop);

  const ScriptArguments& arguments_;
  const AttachArguments& attach_;
  std::string hook_;
  PrivateFolder folder_;
  SocketListener listener_;
  AttachedRun attached_;
  std::mutex mutex_;  ///< guards the making of child_ against abandon()
  std::optional<ChildProcess> child_;
};

}  // namespace cachebisect::cli
