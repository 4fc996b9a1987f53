// `run` and `attach`: a command is started and measured over the socket, its end and ours are told
// by exit codes, and no process is left behind.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "cli/simulated_run.hpp"
#include "support/command.hpp"
#include "support/files.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace cachebisect::test;
using nlohmann::json;

namespace {

const std::string kWaiting = "waiting for the command to end";

/// True if a process with this id runs; one that has ended and awaits its parent does not.
bool runs(const std::string& process) {
  const std::string status = read_file("/proc/" + process + "/status");
  return !status.empty() && !has(status, "State:\tZ");
}

}  // namespace

TEST_CASE("a command is measured, ended, and told in its environment that it is") {
  unsetenv("WANDB_MODE");
  unsetenv("PYTHONPATH");
  const ScriptRun run = run_script("ok");
  CHECK(run.result.exit_code == 0);
  CHECK(run.report["verdict"]["stage"] == "decode");
  CHECK(has(run.result.out, "training\n"));
  CHECK(has(run.result.out, "decode"));
  CHECK(has(run.text, "decode costs"));
  CHECK(has(run.page, "decode</bdi>"));
  CHECK(has(run.result.err, "CACHEBISECT=1 WANDB_MODE=offline PYTHONPATH=" + run.hook + "\n"));
  CHECK(has(run.result.err, "finish exit"));
}

TEST_CASE("what the user has set stays") {
  setenv("WANDB_MODE", "online", 1);
  setenv("PYTHONPATH", "/some/where", 1);
  const ScriptRun run = run_script("ok");
  CHECK(has(run.result.err, "WANDB_MODE=online PYTHONPATH=" + run.hook + ":/some/where\n"));
  unsetenv("WANDB_MODE");
  unsetenv("PYTHONPATH");
}

TEST_CASE("the hook may be named by the environment") {
  const TemporaryFolder folder;
  folder.write("sitecustomize.py", "");
  setenv("CACHEBISECT_HOOK", folder.path().c_str(), 1);
  const auto result = run_tool({"run", "--sustain", "0", "--", kFakeScript, "ok"});
  unsetenv("CACHEBISECT_HOOK");
  CHECK(result.exit_code == 0);
  CHECK(has(result.err, "PYTHONPATH=" + folder.path()));
}

TEST_CASE("with --json - standard output is JSON alone") {
  const ScriptRun run = run_script("ok", {"--json", "-"});
  CHECK(run.result.exit_code == 0);
  CHECK(json::accept(run.result.out));
  CHECK(has(run.result.err, "training\n"));
}

TEST_CASE("with --format markdown standard output is the page alone") {
  const ScriptRun run = run_script("ok", {"--format", "markdown"});
  CHECK(run.result.exit_code == 0);
  CHECK(run.result.out.starts_with("## Input pipeline "));
  CHECK(has(run.result.err, "training\n"));
}

TEST_CASE("a script that goes on is waited for, and its failure is exit 3") {
  const ScriptRun run = run_script("ok", {"--then", "continue"});
  CHECK(has(run.result.err, "finish continue"));
  CHECK(run.report["verdict"]["stage"] == "decode");
  CHECK(run.result.exit_code == 3);
}

TEST_CASE("--inside bisects again with the functions that the named stage calls") {
  const ScriptRun opened = run_script("inside", {"--inside"});
  CHECK(opened.result.exit_code == 0);
  CHECK(opened.report["verdict"]["stage"] == "parse");
  const ScriptRun nothing = run_script("ok", {"--inside"});
  CHECK(has(nothing.result.err, "note: no function takes long"));
  CHECK(nothing.report["verdict"]["stage"] == "decode");
  CHECK(opened.report["stages"].size() == nothing.report["stages"].size() + 1);
}

TEST_CASE("--loader tells the script which of its loaders is measured") {
  CHECK(has(run_script("ok", {"--loader", "2"}).result.err, "CACHEBISECT_LOADER=2\n"));
  CHECK(has(run_script("ok").result.err, "CACHEBISECT_LOADER=(unset)\n"));
  CHECK(run_script("ok", {"--loader", "0"}).result.exit_code == 2);
}

TEST_CASE("a gate of the user is exit 5") {
  CHECK(run_script("ok", {"--fail-on", "drop"}).result.exit_code == 5);
}

TEST_CASE("what keeps a command from being measured is an error with its remedy") {
  const auto fails = [](const ScriptRun& run, int code, const std::string& says) {
    CHECK(run.result.exit_code == code);
    CHECK_MESSAGE(has(run.result.err, says), run.result.err);
    CHECK(run.report.is_null());
  };
  fails(run_script("silent", {"--hello-timeout", "0.3"}), 2, "cachebisect.bisect(loader, step)");
  fails(run_script("old"), 2, "speaks version 0 of the protocol");
  fails(run_script("no-loader"), 2, "seen: fake.py");
  fails(run_script("fails"), 3, "with exit code 7");
  fails(run_script("ok", {"--then", "stop"}), 2, "exit or continue");
  fails(run_script("ok", {"--answer-timeout", "0"}), 2, "--answer-timeout");
  const auto no_hook = run_tool({"run", "--hook", "/nonexistent", "--", kFakeScript});
  CHECK(no_hook.exit_code == 2);
  CHECK(has(no_hook.err, "pip install"));
  const auto missing = run_tool({"run"});
  CHECK(missing.exit_code == 2);
  CHECK(has(missing.err, "command"));
}

TEST_CASE("a command that cannot be started is a usage error") {
  const TemporaryFolder folder;
  folder.write("sitecustomize.py", "");
  const auto result = run_tool({"run", "--hook", folder.path(), "--", "/nonexistent/python", "x"});
  CHECK(result.exit_code == 2);
  CHECK(has(result.err, "/nonexistent/python: No such file"));
}

TEST_CASE("a script that dies is exit 3, and the report so far is written") {
  const ScriptRun run = run_script("dies");
  CHECK(run.result.exit_code == 3);
  CHECK(has(run.result.err, "ended the connection"));
  REQUIRE_FALSE(run.report.is_null());
  CHECK(run.report["interrupted"] == true);
  CHECK(run.report["blocks"].size() > 10);
}

TEST_CASE("what killed a script is said") {
  const ScriptRun run = run_script("killed");
  CHECK(run.result.exit_code == 3);
  CHECK_MESSAGE(
      has(run.result.err, "by signal 9 (Killed), as the system does when memory runs out"),
      run.result.err);
  CHECK(run.report["interrupted"] == true);
}

TEST_CASE("the traceback of a script that raises ends the report so far") {
  const ScriptRun run = run_script("raises");
  CHECK(run.result.exit_code == 3);
  REQUIRE_FALSE(run.report.is_null());
  REQUIRE_FALSE(run.report["warnings"].empty());
  const json warning = run.report["warnings"].back();
  CHECK(warning["code"] == "run_failed");
  CHECK(has(warning["text"].get<std::string>(), "stage 'crop', sample 42: ValueError: bad crop"));
  CHECK(warning["details"].size() == 2);
  CHECK(has(run.result.out,
            "\n      File \"crop.py\", line 7, in __call__\n    ValueError: bad crop\n"));
}

TEST_CASE("an error after the verdict is told once, and the verdict stands") {
  const ScriptRun run = run_script("raises-late", {"--sustain", "1"});
  CHECK(run.result.exit_code == 3);
  CHECK(run.report["verdict"]["stage"] == "decode");
  std::vector<std::string> texts;
  for (const json& warning : run.report["warnings"]) {
    if (warning["code"] == "run_failed") texts.push_back(warning["text"]);
  }
  REQUIRE(texts.size() == 1);
  CHECK(has(texts[0], "after the verdict"));
  CHECK(has(texts[0], "ValueError: bad crop"));
}

TEST_CASE("an adapter that breaks the protocol is exit 1, and the report so far is written") {
  const ScriptRun run = run_script("bad");
  CHECK(run.result.exit_code == 1);
  CHECK(has(run.result.err, "is not JSON"));
  CHECK(run.report["blocks"].size() > 10);
}

TEST_CASE("Ctrl-C stops the block, writes the report so far and ends the command") {
  for (const int signal : {SIGINT, SIGTERM}) {
    CAPTURE(signal);
    const ScriptRun run = run_script("stuck", {}, interrupt_at("late block", signal));
    CHECK(run.result.exit_code == 128 + signal);
    CHECK(has(run.result.err, "stopped"));
    CHECK(run.report["interrupted"] == true);
    CHECK(run.report["blocks"].size() > 10);
  }
}

TEST_CASE("a script that does not react to Ctrl-C is ended by the signal") {
  const ScriptRun run = run_script("deaf", {}, interrupt_at("late block", SIGINT));
  CHECK(run.result.exit_code == 130);
  CHECK(run.report["interrupted"] == true);
}

TEST_CASE("a command that saves its work is waited for, and that is said") {
  const TemporaryFolder folder;
  const std::string release = folder.path("release");
  const During release_it = [&](pid_t, const std::string& err) {
    await_text(err, [](const std::string& text) { return has(text, kWaiting); });
    folder.write("release", "");
  };
  for (const std::string mode : {"saves", "refuses"}) {
    CAPTURE(mode);
    const ScriptRun run = run_script(mode, {}, release_it, {"env", "RELEASE=" + release});
    CHECK(run.result.exit_code == (mode == "saves" ? 0 : 3));
    CHECK(has(run.result.err, "finish exit"));
    CHECK(has(run.result.err, "saved"));
    std::filesystem::remove(release);
  }
}

TEST_CASE("--grace and Ctrl-C end a command that does not end by itself") {
  CHECK(run_script("saves", {"--grace", "0"}).result.exit_code == 0);
  const ScriptRun run = run_script("saves", {}, interrupt_at(kWaiting, SIGINT));
  CHECK(run.result.exit_code == 130);
  CHECK(run.report["interrupted"] == false);
}

TEST_CASE("no process of the command is left behind") {
  for (const std::string mode : {"worker", "session"}) {
    CAPTURE(mode);
    const ScriptRun run = run_script(mode);
    CHECK(run.result.exit_code == 0);
    const std::string& err = run.result.err;
    const std::size_t at = err.find("worker ");
    REQUIRE(at != std::string::npos);
    CHECK_FALSE(runs(err.substr(at + 7, err.find('\n', at) - at - 7)));
  }
}

TEST_CASE("attach measures the process that connects, and lets it go on") {
  const TemporaryFolder folder;
  const std::string socket = folder.path("socket");
  setenv("CACHEBISECT_SOCKET", socket.c_str(), 1);
  CommandResult script;
  std::jthread training([&] { script = run({kFakeScript, "ok"}); });
  const auto result =
      run_tool({"attach", "--socket", socket, "--json", folder.path("report.json")});
  training.join();
  CHECK(result.exit_code == 0);
  CHECK(json::parse(read_file(folder.path("report.json")))["verdict"]["stage"] == "decode");
  CHECK(has(script.err, "finish continue"));
  CHECK_FALSE(std::filesystem::exists(socket));
  unsetenv("CACHEBISECT_SOCKET");
  CHECK(has(run_tool({"attach", "--socket", "/nonexistent/socket"}).err, "/nonexistent/socket"));
}

TEST_CASE("the -- before a command belongs to no option, whatever stands before it") {
  const TemporaryFolder folder;
  folder.write("sitecustomize.py", "");
  using Words = std::vector<std::string>;
  for (const Words& option :
       {Words{"run", "--what-if", "num_workers=2"}, Words{"run", "--boundaries", "0,1"},
        Words{"run", "--fail-on", "drop"}, Words{"tune", "--allow", "semantic"}}) {
    Words words{option.front(), "--hook", folder.path()};
    words.insert(words.end(), option.begin() + 1, option.end());
    words.insert(words.end(), {"--", "/nonexistent/python", "--epochs"});
    const auto result = run_tool(words);
    CHECK_MESSAGE(has(result.err, "/nonexistent/python: No such file"), result.err);
  }
}
