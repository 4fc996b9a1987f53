// Runs a command as a user would, and returns its outputs and exit code.
#pragma once

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "support/files.hpp"
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cachebisect::test {

struct CommandResult {
  int exit_code = -1;  ///< 128 + the signal, if one killed it
  std::string out;
  std::string err;
};

/// Acts on a running process, given its id and the file of its standard error.
using During = std::function<void(pid_t child, const std::string& err)>;

/// Starts `words`, calls `during`, and waits for the end.
inline CommandResult run(const std::vector<std::string>& words, const std::string& input = "",
                         const During& during = {}) {
  const TemporaryFolder folder;
  folder.write("in", input);
  const pid_t child = fork();
  if (child == 0) {
    // Whatever started the tests: nohup and background jobs ignore some of these.
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) signal(number, SIG_DFL);
    const auto redirect = [](const std::string& path, int flags, int to) {
      const int file = open(path.c_str(), flags, 0600);
      if (file < 0 || dup2(file, to) < 0) _exit(127);
    };
    redirect(folder.path("in"), O_RDONLY, STDIN_FILENO);
    redirect(folder.path("out"), O_WRONLY | O_CREAT, STDOUT_FILENO);
    redirect(folder.path("err"), O_WRONLY | O_CREAT, STDERR_FILENO);
    std::vector<std::string> copy = words;
    std::vector<char*> arguments;
    for (std::string& word : copy) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  if (during) during(child, folder.path("err"));
  int status = 0;
  waitpid(child, &status, 0);
  CommandResult result;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = read_file(folder.path("out"));
  result.err = read_file(folder.path("err"));
  return result;
}

/// The command under test with these arguments.
inline CommandResult run_tool(std::vector<std::string> arguments, const std::string& input = "",
                              const During& during = {}) {
  arguments.insert(arguments.begin(), CACHEBISECT_BINARY_DIR "/bin/cachebisect");
  return run(arguments, input, during);
}

/// Waits until `ready` holds for the content of the file, at most two minutes.
template <class Ready>
void await_text(const std::string& file, const Ready& ready) {
  constexpr int kPatience = 6000;
  for (int i = 0; i < kPatience && !ready(read_file(file)); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

/// Whether a set of signals in /proc/PID/status ("SigBlk") has the signal; empty if there is none.
inline std::optional<bool> status_has_signal(const std::string& status, const std::string& set,
                                             int signal) {
  const std::size_t at = status.find(set + ":");
  if (at == std::string::npos) return std::nullopt;
  const auto signals = std::stoull(status.substr(at + set.size() + 1, 18), nullptr, 16);
  return (signals >> (signal - 1) & 1U) != 0;
}

/// Waits until the tool catches signals: it blocks them for the thread that waits for them.
inline void await_signal_watch(pid_t process) {
  const std::string folder = "/proc/" + std::to_string(process);
  await_text(folder + "/status", [&](const std::string& text) {
    // fork() blocks signals too: before exec, this is still the test.
    std::error_code ignored;
    const auto program = std::filesystem::read_symlink(folder + "/exe", ignored);
    return program.filename() == "cachebisect" &&
           status_has_signal(text, "SigBlk", SIGTERM).value_or(false);
  });
}

/// Waits until a signal that was sent to the tool is no longer pending.
inline void await_signal_taken(pid_t process, int signal) {
  await_text("/proc/" + std::to_string(process) + "/status", [signal](const std::string& text) {
    return !status_has_signal(text, "ShdPnd", signal).value_or(false);
  });
}

}  // namespace cachebisect::test
