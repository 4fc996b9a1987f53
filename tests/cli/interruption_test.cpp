// Ctrl-C at any time: the report has what is known by then, files are complete, and the exit code
// tells.
#include <array>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "cli/interrupted_run.hpp"
#include "cli/simulated_run.hpp"
#include "cli/starved_run.hpp"
#include "support/command.hpp"
#include "support/files.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace cachebisect::test;
using nlohmann::json;

namespace {

constexpr std::array kExitCodes{std::pair{SIGINT, 130}, std::pair{SIGTERM, 143},
                                std::pair{SIGHUP, 129}};

}  // namespace

TEST_CASE("Ctrl-C during the pilot leaves a report that knows nothing yet") {
  const Interrupted run = interrupt("pilot, round", SIGINT);
  CHECK(run.exit_code == 130);
  CHECK(run.report["interrupted"] == true);
  CHECK(run.report["verdict"]["kind"] == "inconclusive");
  CHECK(has(run.out, "(interrupted)"));
  CHECK_FALSE(run.leftovers);
}

TEST_CASE("Ctrl-C during the explanation keeps the verdict") {
  const ScriptRun run = run_script("silent-explain", {}, interrupt_at("silent phase", SIGINT));
  CHECK(run.result.exit_code == 130);
  CHECK(run.report["interrupted"] == true);
  CHECK(run.report["verdict"]["kind"] == "drop");
  CHECK(run.report["verdict"]["stage"] == "decode");
  CHECK(has(run.result.out, "decode costs"));
  CHECK(has(run.text, "decode costs"));
}

TEST_CASE("SIGTERM during the what-ifs keeps verdict and predictions") {
  const ScriptRun run = run_script("silent-verify", {"--what-if", "workers=2", "--verify"},
                                   interrupt_at("silent phase", SIGTERM));
  CHECK(run.result.exit_code == 143);
  CHECK(run.report["interrupted"] == true);
  CHECK(run.report["verdict"]["stage"] == "decode");
  REQUIRE(run.report["what_ifs"].size() == 1);
  CHECK(run.report["what_ifs"][0]["change"] == "workers=2");
}

TEST_CASE("a hang-up during the pilot leaves a report") {
  const Interrupted run = interrupt("pilot, round", SIGHUP);
  CHECK(run.exit_code == 129);
  CHECK(run.report["interrupted"] == true);
  CHECK_FALSE(run.leftovers);
}

TEST_CASE("a hang-up does not end a run under nohup") {
  const TemporaryFolder folder;
  const std::string file = folder.write("p.json", starved_pipeline());
  const auto result =
      run({"sh", "-c", R"(trap "" HUP; exec "$@")", "sh", CACHEBISECT_BINARY_DIR "/bin/cachebisect",
           "--pipeline", file, "--budget", "2", "--log-level", "debug", "--json", "-"},
          "", signal_at("pilot, round", SIGHUP));
  CHECK(result.exit_code == 0);
  CHECK(json::parse(result.out)["interrupted"] == false);
}

TEST_CASE("doctor and the self-test end with the exit code of their signal") {
  for (const auto& [signal, code] : kExitCodes) {
    const int sent = signal;
    const During interrupt_once_watched = [sent](pid_t child, const std::string&) {
      await_signal_watch(child);
      kill(child, sent);
    };
    const auto selftest =
        run_tool({"selftest", "--cases", "100000", "--budget", "1"}, "", interrupt_once_watched);
    CHECK(selftest.exit_code == code);
    CHECK(has(selftest.out, "intervals hold"));
    const auto doctor = run_tool({"doctor", "--seconds", "60"}, "", interrupt_once_watched);
    CHECK(doctor.exit_code == code);
    CHECK(doctor.out.empty());
  }
}

TEST_CASE("a signal while the number of workers is measured ends the run, with nothing written") {
  // A batch takes 0.3 s, so the search takes far longer than a check of the log.
  const std::string chain = starved_pipeline(20'000);
  for (const auto& [signal, code] : kExitCodes) {
    const TemporaryFolder folder;
    const auto result = run_tool(
        {"--pipeline", "-", "--workers", "auto", "--log-level", "debug", "--out", folder.path()},
        chain, signal_at("how many workers", signal));
    CHECK(result.exit_code == code);
    CHECK(has(result.err, "interrupted before anything was measured"));
    CHECK(result.out.empty());
    CHECK(entries_in(folder.path()) == 0);
  }
}

TEST_CASE("Ctrl-C while data is generated leaves no half of it") {
  for (const char* const command : {"check", "bisect"}) {
    const TemporaryFolder folder;
    const auto result =
        run_tool({command, "--pipeline", "-"},
                 R"({"stages": [{"use": "read.cifar10", "path": ")" + folder.path("set") + R"(",
            "if_missing": "generate", "generated_samples": 1000000},
            {"use": "decode.cifar"}, {"use": "collate.stack"}, {"use": "copy.device"}],
            "train": {"kind": "emulated"}, "device": "emulated"})",
                 [&](pid_t child, const std::string&) {
                   for (int i = 0; i < 6000 && entries_in(folder.path()) == 0; ++i) {
                     std::this_thread::sleep_for(std::chrono::milliseconds(20));
                   }
                   kill(child, SIGTERM);
                 });
    CHECK(result.exit_code == 143);
    CHECK(has(result.err, "interrupted"));
    CHECK(entries_in(folder.path()) == 0);
  }
}

TEST_CASE("Ctrl-C leaves the self-test's file complete, with the finished chains") {
  const TemporaryFolder folder;
  const auto result = run_tool(
      {"selftest", "--cases", "100000", "--budget", "1", "--json", folder.path("selftest.json")},
      "", interrupt_after_lines(2));
  CHECK(result.exit_code == 130);
  const std::string file = read_file(folder.path("selftest.json"));
  REQUIRE(json::accept(file));
  CHECK(json::parse(file)["interrupted"] == true);
  CHECK_FALSE(leftovers(folder.path()));
}
