// Colour, width and characters follow the terminal and its environment.
#include <array>
#include <string>
#include <vector>

#include "cli/simulated_run.hpp"
#include "cli/starved_run.hpp"
#include "support/command.hpp"
#include "support/files.hpp"
#include "support/lacking.hpp"
#include "support/text.hpp"
#include "support/text_width.hpp"
#include <doctest/doctest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace cachebisect::test;

namespace {

/// What the tool writes to a terminal of these columns, with these variables set.
std::string on_terminal(const std::vector<std::string>& arguments,
                        const std::vector<std::string>& variables, unsigned short columns) {
  winsize size{.ws_row = 50, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    std::vector<std::string> words{"env", "-u", "COLUMNS", "-u", "NO_COLOR", "TERM=xterm"};
    words.insert(words.end(), variables.begin(), variables.end());
    words.emplace_back(CACHEBISECT_BINARY_DIR "/bin/cachebisect");
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execvp(pointers[0], pointers.data());
    _exit(127);
  }
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t got = 0; (got = read(terminal, part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  close(terminal);
  waitpid(child, nullptr, 0);
  return text;
}

const std::vector<std::string> kTimes{"chunks", "--latency", "20", "--bandwidth", "100MB"};

}  // namespace

TEST_CASE("a terminal gets colour, unless NO_COLOR or TERM=dumb or --color says otherwise") {
  if (const auto lacking = lacking_terminal()) return skip(*lacking);
  CHECK(has(on_terminal(kTimes, {}, 80), "\x1b["));
  CHECK_FALSE(has(on_terminal(kTimes, {"NO_COLOR=1"}, 80), "\x1b["));
  CHECK_FALSE(has(on_terminal(kTimes, {"TERM=dumb"}, 80), "\x1b["));
  std::vector<std::string> with_choice = kTimes;
  with_choice.insert(with_choice.end(), {"--color", "never"});
  CHECK_FALSE(has(on_terminal(with_choice, {}, 80), "\x1b["));
  with_choice.back() = "always";
  CHECK(has(on_terminal(with_choice, {"NO_COLOR=1"}, 80), "\x1b["));
  CHECK(has(run_tool(with_choice).out, "\x1b["));
}

TEST_CASE("the text fills the terminal and goes no further") {
  if (const auto lacking = lacking_terminal()) return skip(*lacking);
  for (const unsigned short columns : std::array<unsigned short, 3>{70, 80, 120}) {
    const std::size_t widest = widest_line(on_terminal(kTimes, {}, columns));
    CAPTURE(columns);
    CHECK(widest <= columns);
    CHECK(widest > columns - 10U);
  }
  CHECK(widest_line(on_terminal(kTimes, {"COLUMNS=100"}, 120)) <= 100);
  CHECK(widest_line(on_terminal(kTimes, {"COLUMNS=wide"}, 80)) <= 80);
  CHECK(widest_line(run_tool(kTimes).out) <= 80);
}

TEST_CASE("every command that prints figures follows the terminal") {
  if (const auto lacking = lacking_terminal()) return skip(*lacking);
  const TemporaryFolder folder;
  const std::string pipeline = folder.write("p.json", starved_pipeline());
  const std::string before = folder.path("a.json");
  const std::string history = folder.path("runs.jsonl");
  CHECK(run_tool({"--pipeline", pipeline, "--budget", "0.5", "--quiet", "--no-explain", "--json",
                  before, "--append", history})
            .exit_code == 0);
  const std::vector<std::vector<std::string>> commands{
      {"check", "--pipeline", pipeline},
      {"compare", before, before},
      {"history", history},
      {"time", "--pipeline", pipeline, "--max-batches", "3", "--no-progress", "--save-dir",
       folder.path("t")},
      {"profile", "--pipeline", pipeline, "--active", "3", "--repeat", "1", "--no-progress"},
      {"doctor", "--device", "emulated", "--seconds", "0.5", "--data", "/"}};
  for (std::vector<std::string> command : commands) {
    CAPTURE(command.front());
    const std::string text = on_terminal(command, {}, 80);
    CHECK(has(text, "\x1b["));
    if (command.front() != "time") CHECK(widest_line(text) <= 80);  // it names files
    CHECK_FALSE(has(on_terminal(command, {"NO_COLOR=1"}, 80), "\x1b[2"));
    command.insert(command.end(), {"--color", "purple"});
    CHECK(run_tool(command).exit_code == 2);
  }
}

TEST_CASE("bars and dashes are ASCII unless the locale's characters are UTF-8") {
  const auto report_in = [](const std::string& locale) {
    return run_script("ok", {}, {}, {"env", "LC_ALL=" + locale}).result.out;
  };
  const std::string ascii = report_in("POSIX");
  const std::string unicode = report_in("C.UTF-8");
  CHECK(has(ascii, "##"));
  CHECK(has(ascii, " - "));
  for (const char c : ascii) CHECK(static_cast<unsigned char>(c) < 0x80);
  CHECK(has(unicode, "█"));
  CHECK(has(unicode, " – "));
  CHECK_FALSE(has(unicode, "##"));
}
