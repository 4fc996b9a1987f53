// A second Ctrl-C ends the tool at once, and nothing that it has started or made is left.
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/two_nodes.hpp"
#include "support/command.hpp"
#include "support/files.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <unistd.h>

using namespace cachebisect::test;

namespace {

/// Says its process to the file $PROCESS, and reacts to SIGKILL alone.
constexpr const char* kDeaf =
    "#!/bin/sh\ntrap '' INT TERM\necho $$ >\"$PROCESS\"\nwhile :; do sleep 60; done\n";

/// A folder for temporary files, and a command that ends by SIGKILL alone.
class DeafCommand {
 public:
  DeafCommand() {
    std::filesystem::create_directory(folder_.path("tmp"));
    script = folder_.write("deaf", kDeaf);
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  }

  /// `words`, of which the last start the command; two signals reach the tool while it runs.
  CommandResult interrupt_twice(const std::vector<std::string>& words) const {
    std::vector<std::string> all{
        "env", "TMPDIR=" + folder_.path("tmp"), "PROCESS=" + process_file(),
        "CACHEBISECT_HOOK=" CACHEBISECT_SOURCE_DIR "/python/cachebisect/_hook"};
    all.insert(all.end(), words.begin(), words.end());
    return run(all, "", [this](pid_t tool, const std::string&) {
      await_text(process_file(), [](const std::string& text) { return text.ends_with('\n'); });
      began_in = entries_in(folder_.path("tmp"));
      kill(tool, SIGINT);
      await_signal_taken(tool, SIGINT);
      kill(tool, SIGINT);
    });
  }
  /// Waits for the end of the command, at most two minutes. True if it has ended.
  [[nodiscard]] bool ends() const {
    const std::string process = read_file(process_file());
    const std::string status = "/proc/" + process.substr(0, process.find('\n')) + "/status";
    const auto ended = [](const std::string& text) {
      return text.empty() || has(text, "State:\tZ") || has(text, "State:\tX");
    };
    await_text(status, ended);
    return !process.empty() && ended(read_file(status));
  }
  [[nodiscard]] std::size_t left() const { return entries_in(folder_.path("tmp")); }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path(name); }

  std::string script;
  mutable std::size_t began_in = 0;  ///< temporary folders of the tool before the signals

 private:
  [[nodiscard]] std::string process_file() const { return folder_.path("process"); }

  TemporaryFolder folder_;
};

const std::string kTool = CACHEBISECT_BINARY_DIR "/bin/cachebisect";

void check_left(const DeafCommand& command, const CommandResult& result, std::size_t folders) {
  CHECK_MESSAGE(result.exit_code == 130, result.err);
  CHECK(command.began_in == folders);
  CHECK(command.left() == 0);
  CHECK(command.ends());
}

}  // namespace

TEST_CASE("a second Ctrl-C while a script runs leaves no folder and no process") {
  const std::vector<std::vector<std::string>> all{
      {"run"}, {"time", "--save-dir", "out"}, {"profile"}, {"prepare", "--out", "out"}};
  for (std::vector<std::string> words : all) {
    CAPTURE(words.front());
    const DeafCommand command;
    if (words.size() > 1) words.back() = command.path(words.back());
    words.insert(words.begin(), kTool);
    words.insert(words.end(), {"--", command.script});
    check_left(command, command.interrupt_twice(words), 1);
  }
}

TEST_CASE("a second Ctrl-C ends the training of Lightning's profilers") {
  const DeafCommand command;
  const CommandResult result = command.interrupt_twice(
      {kTool, "profile", "-c", command.path("any.yaml"), "--python", command.script});
  check_left(command, result, 0);
}

TEST_CASE("a second Ctrl-C on a node that has joined leaves no folder and no process") {
  const DeafCommand command;
  const TemporaryFolder hook;
  hook.write("sitecustomize.py", "");
  CommandResult joined;
  static_cast<void>(run_script(
      "silent", {"--nodes", "2", "--address", "127.0.0.1", "--port", "0", "--hello-timeout", "600"},
      [&](pid_t tool, const std::string& log) {
        std::vector<std::string> words = join_words(invitation_in(log), hook.path(), "");
        words.erase(words.end() - 2, words.end());
        words.push_back(command.script);
        joined = command.interrupt_twice(words);
        kill(tool, SIGTERM);
      },
      {"env", "RANK=0", "WORLD_SIZE=2"}));
  check_left(command, joined, 1);
}
