// Runs a command as a user would: arguments, standard input, environment, and what comes back.
#pragma once

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cachebisect::test {

struct CommandResult {
  int exit_code = -1;  ///< 128 + signal when it was killed by one
  std::string out;
  std::string err;
};

/// A folder that is gone with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "cachebisect-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(file(name), std::ios::binary) << content;
    return file(name);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Acts on a running process: its id, and the file that its standard error goes to.
using During = std::function<void(pid_t child, const std::string& err)>;

/// Starts `words`, lets `during` act, and awaits the end.
inline CommandResult run(const std::vector<std::string>& words, const std::string& input = "",
                         const During& during = {}) {
  const TemporaryFolder folder;
  folder.write("in", input);
  const pid_t child = fork();
  if (child == 0) {
    const auto redirect = [](const std::string& path, int flags, int to) {
      const int file = open(path.c_str(), flags, 0600);
      if (file < 0 || dup2(file, to) < 0) _exit(127);
    };
    redirect(folder.file("in"), O_RDONLY, STDIN_FILENO);
    redirect(folder.file("out"), O_WRONLY | O_CREAT, STDOUT_FILENO);
    redirect(folder.file("err"), O_WRONLY | O_CREAT, STDERR_FILENO);
    std::vector<std::string> copy = words;
    std::vector<char*> arguments;
    for (std::string& word : copy) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  if (during) during(child, folder.file("err"));
  int status = 0;
  waitpid(child, &status, 0);
  CommandResult result;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = read_all(folder.file("out"));
  result.err = read_all(folder.file("err"));
  return result;
}

/// The command under test with these arguments.
inline CommandResult run_tool(std::vector<std::string> arguments, const std::string& input = "",
                              const During& during = {}) {
  arguments.insert(arguments.begin(), CACHEBISECT_BINARY_DIR "/bin/cachebisect");
  return run(arguments, input, during);
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Waits until `ready` holds for what the file holds by then; two minutes at most.
template <class Ready>
void await_text(const std::string& file, const Ready& ready) {
  constexpr int kPatience = 6000;
  for (int i = 0; i < kPatience && !ready(read_all(file)); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

/// Waits for the debug log line that says that the second round has begun, so that there is
/// something to keep.
inline void await_second_round(const std::string& log) {
  await_text(log, [](const std::string& text) { return contains(text, "measure, round 1"); });
}

/// Arguments of a run to the end of its budget: it asks for more than that can certify.
inline std::vector<std::string> undecided_run(const std::string& pipeline,
                                              const std::string& report,
                                              const std::string& budget_seconds,
                                              const std::string& min_drop) {
  return {"--pipeline",   pipeline,  "--budget",    budget_seconds, "--min-drop", min_drop,
          "--confidence", "0.99999", "--log-level", "debug",        "--json",     report};
}

/// A planted chain on the emulated device: "slow" costs most, `slow_us` a sample beside a step of
/// 125 us a sample.
inline std::string starved_pipeline(int slow_us = 250) {
  return R"({
    "name": "starved", "batch_size": 16, "workers": 1, "shuffle": false,
    "stages": [
      {"use": "synthetic.read", "bytes": 1024, "samples": 100000},
      {"use": "synthetic.wait", "name": "slow", "us": )" +
         std::to_string(slow_us) + R"(},
      {"use": "collate.stack"},
      {"use": "copy.device", "prefetch": 2}
    ],
    "train": {"kind": "emulated"}, "device": "emulated", "emulate": {"step_ms": 2}
  })";
}

}  // namespace cachebisect::test
