// A command that is measured, with the engine's side of it: what `run` and `tune` have in common.
#pragma once

#include <memory>
#include <string>

#include "commands/attached_run.hpp"
#include "commands/node_options.hpp"
#include "commands/script_command.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/private_folder.hpp"
#include "cachebisect/remote/socket_listener.hpp"

namespace cachebisect::cli {

/// What a command is started with.
void add_script_settings(CLI::App& app, ScriptArguments& arguments);
/// The same, and the command.
void add_script_options(CLI::App& app, ScriptArguments& arguments);

class ScriptRun {
 public:
  /// Keeps references to `script` and `attach`. Throws what listen_for_nodes() throws.
  ScriptRun(const ScriptArguments& script, const AttachArguments& attach,
            const NodeArguments& nodes = {});

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
  [[noreturn]] void fail_without_loader();

  const ScriptArguments& arguments_;
  const AttachArguments& attach_;
  PrivateFolder folder_;
  SocketListener listener_;
  std::unique_ptr<NodeListener> nodes_;  ///< of a job of several machines
  AttachedRun attached_;
  ScriptCommand command_;
};

}  // namespace cachebisect::cli
