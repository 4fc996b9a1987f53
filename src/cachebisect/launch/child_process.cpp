#include "cachebisect/launch/child_process.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/launch/descendants.hpp"

namespace cachebisect {
namespace {

/// A process that the system does not let go of is left to it after a while.
constexpr int kReapAttempts = 2000;
constexpr auto kReapPause = std::chrono::milliseconds(1);

/// Attributes and file actions of posix_spawn(), destroyed at the end.
class SpawnSettings {
 public:
  explicit SpawnSettings(bool stdout_to_stderr) {
    posix_spawnattr_init(&attributes_);
    posix_spawn_file_actions_init(&actions_);
    sigset_t none;
    sigemptyset(&none);
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGXFSZ);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    // A process outside the terminal's foreground group is stopped when it reads the terminal.
    if (isatty(STDIN_FILENO) != 0) {
      posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    if (stdout_to_stderr) {
      posix_spawn_file_actions_adddup2(&actions_, STDERR_FILENO, STDOUT_FILENO);
    }
  }
  ~SpawnSettings() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  [[nodiscard]] const posix_spawnattr_t* attributes() const noexcept { return &attributes_; }
  [[nodiscard]] const posix_spawn_file_actions_t* actions() const noexcept { return &actions_; }

 private:
  posix_spawnattr_t attributes_{};
  posix_spawn_file_actions_t actions_{};
};

/// The environment of this process with `added` in place of variables of the same name.
std::vector<std::string> environment_with(const std::map<std::string, std::string>& added) {
  std::vector<std::string> all;
  for (char* const* entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!added.contains(text.substr(0, text.find('=')))) all.push_back(text);
  }
  for (const auto& [name, value] : added) all.emplace_back(name).append("=").append(value);
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

std::string ChildStatus::text() const {
  if (signal == 0) return "with exit code " + std::to_string(exit_code);
  return "by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
}

ChildProcess::ChildProcess(const ChildOptions& options) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // Fails only before Linux 3.4: orphans are then not seen.
  const SpawnSettings settings(options.stdout_to_stderr);
  std::vector<std::string> words = options.words;
  std::vector<std::string> environment = environment_with(options.environment);
  const int error =
      posix_spawnp(&process_, words.front().c_str(), settings.actions(), settings.attributes(),
                   pointers_to(words).data(), pointers_to(environment).data());
  if (error != 0) {
    throw Error(ErrorKind::usage, words.front() + ": " + errno_text(error) +
                                      "; the command after -- must be one that a shell finds");
  }
  ended_ = FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, process_, 0)));
  if (!ended_.is_open()) {
    const int reason = errno;
    send_signal(SIGKILL);
    waitpid(process_, nullptr, 0);
    throw Error(ErrorKind::internal, "pidfd_open: " + errno_text(reason));
  }
}

ChildProcess::~ChildProcess() {
  send_signal(SIGKILL);
  if (!status_) waitpid(process_, nullptr, 0);
  reap_orphans();
}

void ChildProcess::reap_orphans() const noexcept {
  for (int i = 0; i < kReapAttempts && waitpid(-1, nullptr, WNOHANG) >= 0; ++i) {
    send_signal(SIGKILL);  // What a killed process had just started has become ours.
    std::this_thread::sleep_for(kReapPause);
  }
}

std::optional<ChildStatus> ChildProcess::status() {
  int status = 0;
  if (!status_ && waitpid(process_, &status, WNOHANG) == process_) {
    status_ = WIFSIGNALED(status) ? ChildStatus{0, WTERMSIG(status)}
                                  : ChildStatus{WEXITSTATUS(status), 0};
  }
  return status_;
}

void ChildProcess::send_signal(int signal) const noexcept {
  kill(-process_, signal);
  for (const pid_t process : descendants_of(getpid())) {
    if (getpgid(process) != process_) kill(process, signal);  // Once to each.
  }
}

}  // namespace cachebisect
