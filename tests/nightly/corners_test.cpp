// Conditions of real runs: suspension, other processes, tiny budgets, tiny data, heavy tails.
// Nothing here depends on the speed of the machine: the tests check which verdicts are possible.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "cli/starved_run.hpp"
#include "support/command.hpp"
#include "support/files.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace cachebisect::test;
using nlohmann::json;

namespace {

/// Processes that burn half of the cores until they go out of scope.
class Hogs {
 public:
  Hogs() = default;
  ~Hogs() {
    for (const pid_t child : children_) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }
  Hogs(const Hogs&) = delete;
  Hogs& operator=(const Hogs&) = delete;

  void start() {
    const unsigned cores = std::max(1U, std::thread::hardware_concurrency() / 2);
    for (unsigned i = 0; i < cores; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (volatile unsigned turns = 0;;) turns = turns + 1;
      }
      children_.push_back(child);
    }
  }

 private:
  std::vector<pid_t> children_;
};

std::vector<std::string> long_run(const std::string& pipeline, const std::string& report) {
  return undecided_run(pipeline, report, "8", "0.5%");
}

/// "slow" is the planted stage; being inconclusive is not wrong.
void check_slow_or_unknown(const json& report) {
  const json& verdict = report["verdict"];
  CAPTURE(verdict.dump());
  if (verdict["kind"] == "drop") {
    CHECK(verdict["stage"] == "slow");
  } else {
    CHECK(verdict["kind"] == "inconclusive");
  }
}

bool warns_of(const json& report, const std::string& code) {
  return std::any_of(report["warnings"].begin(), report["warnings"].end(),
                     [&](const json& warning) { return warning["code"] == code; });
}

std::string chain(const std::string& head, const std::string& stages) {
  return R"({"name": "corner", )" + head + R"(, "stages": [)" + stages + R"(,
    {"use": "collate.stack"}, {"use": "copy.device"}],
    "train": {"kind": "emulated"}, "device": "emulated", "emulate": {"step_ms": 2}})";
}

}  // namespace

TEST_CASE("five seconds of suspension neither cause nor hide a drop") {
  const TemporaryFolder folder;
  const std::string file = folder.write("p.json", starved_pipeline());
  const auto result = run_tool(long_run(file, folder.path("report.json")), "",
                               [](pid_t child, const std::string& log) {
                                 await_second_super_round(log);
                                 kill(child, SIGSTOP);
                                 std::this_thread::sleep_for(std::chrono::seconds(5));
                                 kill(child, SIGCONT);
                               });
  REQUIRE(result.exit_code == 0);
  const json report = json::parse(read_file(folder.path("report.json")));
  check_slow_or_unknown(report);
  // The stop may have hit between two blocks; a block that it hit must be void.
  bool voids = false;
  for (const json& block : report["blocks"]) {
    CAPTURE(block.dump());
    CHECK((block["seconds"].get<double>() < 5 || block["void"] == true));
    voids = voids || block["void"] == true;
  }
  CHECK(warns_of(report, "suspended") == voids);
}

TEST_CASE("a process that takes half of the cores midway changes no verdict") {
  const TemporaryFolder folder;
  const std::string file =
      folder.write("p.json", chain(R"("batch_size": 16, "workers": 2, "shuffle": false)",
                                   R"({"use": "synthetic.read", "bytes": 1024, "samples": 100000},
                         {"use": "synthetic.cpu", "name": "light", "us": 20},
                         {"use": "synthetic.cpu", "name": "slow", "us": 400},
                         {"use": "synthetic.wait", "name": "short", "us": 20})"));
  Hogs hogs;
  const auto result = run_tool(long_run(file, folder.path("report.json")), "",
                               [&hogs](pid_t, const std::string& log) {
                                 await_second_super_round(log);
                                 hogs.start();
                               });
  REQUIRE(result.exit_code == 0);
  check_slow_or_unknown(json::parse(read_file(folder.path("report.json"))));
}

TEST_CASE("a budget too short for one round names what is needed and is not a failure") {
  const auto result =
      run_tool({"--pipeline", "-", "--budget", "0.01", "--json", "-"}, starved_pipeline());
  REQUIRE(result.exit_code == 0);
  const json report = json::parse(result.out);
  CHECK(report["verdict"]["kind"] == "inconclusive");
  REQUIRE(report["verdict"]["needed"].is_object());
  CHECK(report["verdict"]["needed"]["rounds"].get<double>() >= 1);
  CHECK(report["verdict"]["needed"]["seconds"].get<double>() > 0.01);
}

TEST_CASE(
    "one worker and a batch larger than the data set are measured, or refused with a reason") {
  const std::string stages = R"({"use": "synthetic.read", "bytes": 64, "samples": 20},
                                {"use": "synthetic.wait", "name": "slow", "us": 250})";
  const auto whole = run_tool(
      {"--pipeline", "-", "--budget", "5", "--json", "-"},
      chain(R"("batch_size": 32, "workers": 1, "shuffle": false, "drop_last": false)", stages));
  REQUIRE(whole.exit_code == 0);
  check_slow_or_unknown(json::parse(whole.out));
  const auto none = run_tool({"--pipeline", "-", "--budget", "1", "--json", "-"},
                             chain(R"("batch_size": 32, "workers": 1, "drop_last": true)", stages));
  CHECK(none.exit_code == 2);
  CHECK(has(none.err, "drop_last"));
}

TEST_CASE("heavy tails are attributed to their stage or called bursty, never flat") {
  const auto result = run_tool({"--pipeline", "-", "--budget", "15", "--json", "-"},
                               chain(R"("batch_size": 16, "workers": 1)",
                                     R"({"use": "synthetic.read", "bytes": 64, "samples": 100000},
                        {"use": "synthetic.wait", "name": "light", "us": 5},
                        {"use": "synthetic.wait", "name": "slow", "us": 250,
                         "jitter": {"kind": "pareto", "cv": 1}})"));
  REQUIRE(result.exit_code == 0);
  const json report = json::parse(result.out);
  check_slow_or_unknown(report);
}
