#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/simulated_run.hpp"
#include "cli/starved_run.hpp"
#include "support/command.hpp"
#include "support/files.hpp"
#include "support/lacking.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace cachebisect::test;
using nlohmann::json;

namespace {

std::vector<std::string> endless_run(const std::string& pipeline, const std::string& report) {
  return undecided_run(pipeline, report, "600", "0.1%");
}

}  // namespace

TEST_CASE(
    "a planted drop is reported as text on stdout and JSON in files, with nothing on stderr") {
  const TemporaryFolder folder;
  const std::string file = folder.write("p.json", starved_pipeline());
  std::filesystem::create_directory(folder.path("out"));
  const auto result = run_tool({"--pipeline", file, "--budget", "3", "--sustain", "0.5", "--json",
                                folder.path("report.json"), "--html", folder.path("page.html"),
                                "--out", folder.path("out")});
  CHECK(result.exit_code == 0);
  CHECK(has(result.out, "step alone (ceiling)"));
  CHECK(has(result.out, "emulated"));
  CHECK(result.err.empty());
  const json report = json::parse(read_file(folder.path("report.json")));
  CHECK(report == json::parse(read_file(folder.path("out/report.json"))));
  CHECK(has(read_file(folder.path("out/report.txt")), "starved"));
  CHECK(has(read_file(folder.path("page.html")), "slow</bdi>"));
  CHECK(read_file(folder.path("page.html")) == read_file(folder.path("out/report.html")));
  CHECK(report["stages"].size() == 4);
  CHECK(report["boundaries"].size() == 5);
  CHECK_FALSE(report["blocks"].empty());
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    CHECK_FALSE(has(entry.path().string(), ".tmp"));
  }
}

TEST_CASE("the waterfall sums to tau(0) - tau(n)") {
  const json report = run_script("ok").report;
  REQUIRE(report.is_object());
  double sum = 0;
  for (const char* const parts : {"stages", "spans"}) {
    for (const json& part : report[parts]) {
      if (!part["seconds_per_sample"].is_null()) sum += part["seconds_per_sample"].get<double>();
    }
  }
  const double whole = report["boundaries"].front()["seconds_per_sample"].get<double>() -
                       report["boundaries"].back()["seconds_per_sample"].get<double>();
  CHECK(sum == doctest::Approx(whole).epsilon(1e-9));
}

TEST_CASE("the place where reading began is reported, and --nonce chooses it") {
  const auto chosen = run_tool(
      {"--pipeline", "-", "--budget", "1", "--nonce", "271828", "--json", "-"}, starved_pipeline());
  REQUIRE(chosen.exit_code == 0);
  CHECK(json::parse(chosen.out)["settings"]["order_nonce"] == 271828);
  const auto drawn = run_tool({"--pipeline", "-", "--budget", "1"}, starved_pipeline());
  REQUIRE(drawn.exit_code == 0);
  CHECK(has(drawn.out, "\nreading began at --nonce "));
}

TEST_CASE("--json - makes standard output pure JSON, --quiet makes it empty") {
  const auto pure =
      run_tool({"--pipeline", "-", "--budget", "1", "--json", "-"}, starved_pipeline());
  CHECK(pure.exit_code == 0);
  CHECK(json::accept(pure.out));
  const auto quiet = run_tool({"--pipeline", "-", "--budget", "1", "--quiet"}, starved_pipeline());
  CHECK(quiet.exit_code == 0);
  CHECK(quiet.out.empty());
}

TEST_CASE("--no-explain ends the run with the verdict") {
  const auto result = run_tool(
      {"--pipeline", "-", "--budget", "3", "--sustain", "0", "--no-explain", "--json", "-"},
      starved_pipeline());
  REQUIRE(result.exit_code == 0);
  const json report = json::parse(result.out);
  for (const json& block : report["blocks"]) {
    CAPTURE(block.dump());
    CHECK(block["round"] <= report["verdict"]["rounds"]);  // the budget may end within a round
    // An unseen block is part of the verdict.
    CHECK((block["arm"] == "replay" || block["arm"] == "null" || block["arm"] == "unseen"));
    CHECK(block["observed"] == true);
  }
  for (const json& stage : report["stages"]) CHECK(stage["payoff"]["samples_per_second"].is_null());
  CHECK(report["loss"]["starvation"].is_null());
  CHECK(report["loss"]["contention"].is_null());
  CHECK(report["overhead"]["share"].is_null());
}

TEST_CASE("--fail-on turns a verdict into exit 5") {
  const auto result = run_tool({"--pipeline", "-", "--budget", "1", "--sustain", "0", "--json", "-",
                                "--fail-on", "drop,inconclusive,spread,flat,anomaly"},
                               starved_pipeline());
  CHECK(result.exit_code == 5);
  CHECK(json::accept(result.out));
}

TEST_CASE("Ctrl-C leaves a partial report and exit 130, SIGTERM 143") {
  for (const auto& [signal, code] : {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}}) {
    const TemporaryFolder folder;
    const std::string file = folder.write("p.json", starved_pipeline());
    const int sent = signal;
    const auto result = run_tool(endless_run(file, folder.path("report.json")), "",
                                 [sent](pid_t child, const std::string& log) {
                                   await_second_super_round(log);
                                   kill(child, sent);
                                 });
    CHECK(result.exit_code == code);
    const std::string text = read_file(folder.path("report.json"));
    REQUIRE(json::accept(text));
    CHECK(json::parse(text)["interrupted"] == true);
  }
}

TEST_CASE("data that disappears during the run is exit 3, and what was measured is kept") {
  const TemporaryFolder folder;
  constexpr std::size_t kRecordBytes = 3073;
  const std::string data = folder.write("data_batch_1.bin", std::string(2000 * kRecordBytes, '\0'));
  const std::string file = folder.write("p.json", R"({
    "batch_size": 16, "workers": 1,
    "stages": [{"use": "read.cifar10", "path": ")" + data +
                                                      R"("}, {"use": "decode.cifar"},
               {"use": "synthetic.wait", "us": 100}, {"use": "collate.stack"}, {"use": "copy.device"}],
    "train": {"kind": "emulated"}, "device": "emulated", "emulate": {"step_ms": 2}})");
  const auto result = run_tool(endless_run(file, folder.path("report.json")), "",
                               [&](pid_t, const std::string& log) {
                                 await_second_super_round(log);
                                 std::filesystem::resize_file(data, 0);
                               });
  CHECK(result.exit_code == 3);
  CHECK(has(result.err, "data_batch_1.bin"));
  const std::string text = read_file(folder.path("report.json"));
  REQUIRE(json::accept(text));
  CHECK_FALSE(json::parse(text)["blocks"].empty());
}

TEST_CASE("a full disk costs the file, not the answer") {
  if (const auto lacking = lacking_writable("/dev/full")) return skip(*lacking);
  const auto result =
      run({"sh", "-c",
           CACHEBISECT_BINARY_DIR "/bin/cachebisect --pipeline - --budget 1 --json - > /dev/full"},
          starved_pipeline());
  CHECK(result.exit_code == 6);
  CHECK(has(result.err, "standard output"));
}
