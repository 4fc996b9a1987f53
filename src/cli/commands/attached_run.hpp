// Bisects a training process that connects to a socket: what `attach` and `run` have in common.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "commands/bisect_options.hpp"
#include "commands/bisect_session.hpp"

#include "cachebisect/remote/await_adapter.hpp"

namespace CLI {
class App;
}

namespace cachebisect::cli {

struct AttachArguments {
  BisectArguments bisect;
  double hello_seconds = 30;
  double answer_seconds = 300;
  std::string then;  ///< "exit" or "continue"
  bool inside = false;
};

/// The options of both commands; `then`: the default of --then.
void add_attach_options(CLI::App& app, AttachArguments& arguments, const std::string& then);
/// Checks ranges. Throws Error(usage) naming the option.
BisectOptions attach_options(const AttachArguments& arguments);

/// The engine's side of one run.
class AttachedRun {
 public:
  /// Keeps references to all. `nodes`: of a job of several machines.
  AttachedRun(const AttachArguments& arguments, SocketListener& listener,
              NodeListener* nodes = nullptr)
      : arguments_(arguments), listener_(listener), nodes_(nodes) {}

  /// Waits for a process with a loader. Empty if all processes ended without one; see seen().
  /// `command_ended`: as in AwaitOptions. Throws what await_adapter() throws.
  [[nodiscard]] bool attach(SessionTools& tools, int command_ended);
  /// The processes that said hello, for messages; empty if none did.
  [[nodiscard]] std::string seen() const { return names_of(seen_); }
  /// True once a process with a loader was found.
  [[nodiscard]] bool has_begun() const noexcept { return attached_seconds_ > 0; }
  /// After attach(): says what was found, and takes it over.
  AttachedReplayer& open(SessionTools& tools);
  /// After attach().
  Report measure(SessionTools& tools);
  /// Tells the training processes, and the other nodes, how the session ended. False if no process
  /// is attached or one does not react.
  bool finish(const SessionEnd& end);

 private:
  /// True if the stage that the report names has become several.
  bool opened(const Report& report, SessionTools& tools);

  const AttachArguments& arguments_;
  SocketListener& listener_;
  NodeListener* nodes_;
  std::vector<AdapterHello> seen_;
  std::vector<AttachedAdapter> adapters_;
  std::optional<double> expected_;  ///< samples/s, as the training process says
  std::unique_ptr<AttachedReplayer> replayer_;
  double attached_seconds_ = 0;
  bool refused_ = false;  ///< the process could not be measured, and knows how the session ends
};

}  // namespace cachebisect::cli
