// A training command with the hook in its environment, from its start to its end.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/base/error.hpp"
#include "cachebisect/launch/child_process.hpp"

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

/// What tells the hook how to measure: CACHEBISECT_... variables that are the same on all machines
/// of a job.
[[nodiscard]] std::map<std::string, std::string> measuring_environment(
    const ScriptArguments& arguments, const std::string& then);

/// Whether a command knows that it is to end.
enum class Told {
  yes,    ///< it knows that it ends
  no,     ///< it cannot be told any more; it was measured
  never,  ///< it has not been measured
};

class ScriptCommand {
 public:
  /// Throws Error(usage) if there is no hook.
  explicit ScriptCommand(const std::string& hook);

  /// `environment` is added to that of this process and to what the hook needs. Throws
  /// Error(usage) if the command cannot be started.
  void start(const std::vector<std::string>& words, std::map<std::string, std::string> environment,
             bool stdout_to_stderr);
  [[nodiscard]] bool has_started() const noexcept { return child_.has_value(); }
  /// After start(): becomes readable when the command has ended.
  [[nodiscard]] int descriptor() const noexcept { return child_->descriptor(); }
  /// After start(): how it ended; empty if it runs.
  [[nodiscard]] std::optional<ChildStatus> status() { return child_->status(); }

  /// False if it still runs after `seconds` (empty: without a limit) or on `stop`.
  bool ends_within(std::optional<double> seconds, const std::stop_token& stop);
  /// Until it has ended by itself, `stop`, or `grace_seconds`; without these, as long as one that
  /// was told needs.
  void wait_for_end(Told told, std::optional<double> grace_seconds, const std::stop_token& stop);
  /// `ending`: it may be ending by itself. What is left is killed with this object.
  void end(bool ending, int signal);
  /// Any thread.
  void kill();

 private:
  std::string hook_;
  std::mutex mutex_;  ///< guards the making of child_ against kill()
  std::optional<ChildProcess> child_;
};

}  // namespace cachebisect::cli
