// A command that runs alongside this one.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/file_descriptor.hpp"

namespace cachebisect {

/// How a command ended.
struct ChildStatus {
  int exit_code = 0;
  int signal = 0;  ///< that killed it; 0: none

  [[nodiscard]] bool ok() const noexcept { return exit_code == 0 && signal == 0; }
  /// "with exit code 1", "by signal 9 (Killed)".
  [[nodiscard]] CACHEBISECT_INTERNAL_API std::string text() const;
};

struct ChildOptions {
  std::vector<std::string> words;                    ///< of the command, at least one
  std::map<std::string, std::string> environment{};  ///< added to that of this process
  bool stdout_to_stderr = false;
};

/// Leads a process group of its own, so that Ctrl-C on the terminal reaches this process first.
/// This process adopts what the command leaves behind (PR_SET_CHILD_SUBREAPER of prctl(2)), so that
/// everything that it starts can be ended together, whatever groups and sessions it makes. Its
/// standard input is empty if it would be a terminal. Its signals are those of a command that a
/// shell starts. One at a time.
class CACHEBISECT_INTERNAL_API ChildProcess {
 public:
  /// Throws Error(usage) naming the command if it cannot be started.
  explicit ChildProcess(const ChildOptions& options);
  /// Kills what is left.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Becomes readable when the command has ended.
  [[nodiscard]] int descriptor() const noexcept { return ended_.get(); }
  /// How it ended; empty if it runs. Does not wait.
  std::optional<ChildStatus> status();
  /// To the command and all its descendants. Any thread.
  void send_signal(int signal) const noexcept;

 private:
  void reap_orphans() const noexcept;

  pid_t process_ = -1;
  FileDescriptor ended_;
  std::optional<ChildStatus> status_;
};

}  // namespace cachebisect
