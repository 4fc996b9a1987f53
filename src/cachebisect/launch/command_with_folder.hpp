// A command that tells this process something in files.
#pragma once

#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/private_folder.hpp"
#include "cachebisect/launch/child_process.hpp"

namespace cachebisect {

/// A command from its start to its end, with a temporary folder for what it writes for this
/// process. Neither is left where this process has to end at once.
class CACHEBISECT_INTERNAL_API CommandWithFolder {
 public:
  CommandWithFolder() = default;
  CommandWithFolder(const CommandWithFolder&) = delete;
  CommandWithFolder& operator=(const CommandWithFolder&) = delete;

  /// The path of the folder, which is made at the first call. Throws what PrivateFolder() throws,
  /// and Error(interrupted) after abandon().
  [[nodiscard]] const std::string& folder();
  /// Starts the command, waits for its end as await_child() does, and kills what is left of it.
  /// Throws what ChildProcess() throws, and Error(interrupted) after abandon().
  std::optional<ChildStatus> run(const ChildOptions& options, const std::stop_token& stop);
  /// Kills the command and removes the folder; what has not begun does not begin. Any thread.
  void abandon() noexcept;

 private:
  class Child;

  /// Throws Error(interrupted) after abandon(). With mutex_ held.
  void check_wanted() const;

  std::mutex mutex_;
  // Guarded by mutex_:
  bool abandoned_ = false;
  std::optional<PrivateFolder> folder_;
  const ChildProcess* child_ = nullptr;  ///< while it runs
};

}  // namespace cachebisect
