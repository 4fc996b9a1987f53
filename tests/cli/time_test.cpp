// cachebisect time, on a pipeline whose times are planted.
#include <filesystem>
#include <string>
#include <vector>

#include "cli/starved_run.hpp"
#include "support/command.hpp"
#include "support/files.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace cachebisect::test;
using nlohmann::json;

namespace {

const std::vector<std::string> kFiles{"timing_summary.yaml",   "timing_results.csv",
                                      "benchmark_config.yaml", "batch_time_breakdown.png",
                                      "total_batch_time.png",  "time_distribution_pie.png"};

CommandResult time_planted(const std::string& folder, std::vector<std::string> more = {},
                           const During& during = {}) {
  std::vector<std::string> words{"time", "--pipeline",    "-",  "--save-dir",   folder, "--epochs",
                                 "1",    "--max-batches", "40", "--no-progress"};
  words.insert(words.end(), more.begin(), more.end());
  return run_tool(words, starved_pipeline(500), during);
}

bool draws_pictures() { return run({"gnuplot", "--version"}).exit_code == 0; }

}  // namespace

TEST_CASE("time writes its files") {
  const TemporaryFolder folder;
  const auto result = time_planted(folder.path("new/folder"));
  CHECK(result.exit_code == 0);
  CHECK(has(result.out, "40 batches (stopped by --max-batches, of 6,250)"));
  CHECK(has(result.out, "load"));
  CHECK(has(result.out, "cannot") == false);
  for (const std::string& file : kFiles) {
    CAPTURE(file);
    const bool picture = file.ends_with(".png");
    if (picture && !draws_pictures()) continue;
    const std::string content = read_file(folder.path("new/folder/" + file));
    CHECK_FALSE(content.empty());
    CHECK(content.starts_with("\x89PNG") == picture);
    CHECK(has(result.out, "written: " + folder.path("new/folder/" + file) + "\n"));
  }
  CHECK(has(read_file(folder.path("new/folder/benchmark_config.yaml")), "name: \"starved\"\n"));
  const std::string csv = read_file(folder.path("new/folder/timing_results.csv"));
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 41);
}

TEST_CASE("--json writes the summary as JSON, --quiet nothing on standard output") {
  const TemporaryFolder folder;
  const auto pure = time_planted(folder.path("a"), {"--json", "-"});
  CHECK(pure.exit_code == 0);
  const json summary = json::parse(pure.out);
  CHECK(summary["name"] == "starved");
  CHECK(summary["runs"][0]["batches"] == 40);
  CHECK(summary["runs"][0]["parts"]["load"]["share"].get<double>() > 0);
  const auto quiet = time_planted(folder.path("b"), {"--quiet", "--json", folder.path("b.json")});
  CHECK(quiet.exit_code == 0);
  CHECK(quiet.out.empty());
  CHECK(json::parse(read_file(folder.path("b.json")))["runs"].size() == 1);
  CHECK(has(read_file(folder.path("b/timing_summary.yaml")), "batches: 40\n"));
  const auto told = time_planted(folder.path("c"), {"--json", folder.path("c.json")});
  CHECK(has(told.out, "written: " + folder.path("c.json") + "\n"));
  const auto same = time_planted(folder.path("d"), {"--json", folder.path("d/timing_results.csv")});
  CHECK(same.exit_code == 2);
  CHECK(time_planted(folder.path("e"), {"--json", folder.path("no/folder.json")}).exit_code == 6);
  CHECK_FALSE(std::filesystem::exists(folder.path("e")));
}

TEST_CASE("what a script prints goes to standard error if standard output is the JSON") {
  const TemporaryFolder folder;
  const auto result = run_tool({"time", "--save-dir", folder.path("out"), "--hook",
                                CACHEBISECT_SOURCE_DIR "/python/cachebisect/_hook", "--json", "-",
                                "--", "sh", "-c", "echo printed"});
  CHECK(result.exit_code == 2);  // it trains nothing
  CHECK(result.out.empty());
  CHECK(has(result.err, "printed\n"));
}

TEST_CASE("several batch sizes are compared") {
  const TemporaryFolder folder;
  const auto result = time_planted(folder.path("sizes"), {"--batch-size", "8,16"});
  CHECK(result.exit_code == 0);
  CHECK(has(result.out, "batch size"));
  CHECK(has(result.out, "to the power of"));
  const std::string csv = read_file(folder.path("sizes/timing_results.csv"));
  CHECK(has(csv, "\n8,39,0,8,"));
  CHECK(has(csv, "\n16,39,0,16,"));
}

TEST_CASE("without gnuplot all but the pictures is written, and the remedy is named") {
  const TemporaryFolder folder;
  const TemporaryFolder empty;
  const auto result =
      run({"env", "PATH=" + empty.path(), CACHEBISECT_BINARY_DIR "/bin/cachebisect", "time",
           "--pipeline", "-", "--save-dir", folder.path("out"), "--max-batches", "4"},
          starved_pipeline());
  CHECK(result.exit_code == 0);
  CHECK(has(result.err, "apt-get install gnuplot-nox"));
  CHECK_FALSE(read_file(folder.path("out/timing_results.csv")).empty());
  CHECK_FALSE(std::filesystem::exists(folder.path("out/total_batch_time.png")));
}

TEST_CASE("what is wrong with options, folders and data fails as it should, and leaves nothing") {
  const TemporaryFolder folder;
  CHECK(time_planted(folder.path("a"), {"--epochs", "0"}).exit_code == 2);
  CHECK(time_planted(folder.path("a"), {"--precision", "8"}).exit_code == 2);
  CHECK(time_planted(folder.path("a"), {"--batch-size", "0"}).exit_code == 2);
  CHECK(time_planted(folder.path("a"), {"--max-seconds", "-1"}).exit_code == 2);
  CHECK_FALSE(std::filesystem::exists(folder.path("a")));
  folder.write("file", "x");
  const auto unwritable = time_planted(folder.path("file/below"));
  CHECK(unwritable.exit_code == 6);
  CHECK(has(unwritable.err, folder.path("file/below")));
}

TEST_CASE("an interrupted run writes the batches until then") {
  const TemporaryFolder folder;
  const During interrupt = [](pid_t child, const std::string& /*err*/) {
    await_signal_watch(child);
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    kill(child, SIGINT);
  };
  const auto result = run_tool({"time", "--pipeline", "-", "--save-dir", folder.path("out")},
                               starved_pipeline(), interrupt);
  CHECK(result.exit_code == 130);
  CHECK(has(result.out, "interrupted"));
  CHECK(has(read_file(folder.path("out/timing_summary.yaml")), "ended_by: \"interrupted\""));
}
