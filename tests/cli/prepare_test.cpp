// `prepare`: the table, the data set, the pipeline that reads it, and what is refused.
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "support/command.hpp"
#include "support/files.hpp"
#include "support/sanitized.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace cachebisect::test;
using nlohmann::json;

namespace {

/// Digits in files of MNIST, made in the folder.
std::string digits_pipeline(const TemporaryFolder& folder, int samples = 200,
                            const std::string& more_stages = "") {
  return R"({"name": "digits", "batch_size": 8, "workers": 1, "device": "emulated", "stages": [
      {"use": "read.mnist", "path": ")" +
         folder.path("mnist") + R"(", "if_missing": "generate", "generated_samples": )" +
         std::to_string(samples) + R"(}, {"use": "decode.mnist"}, )" + more_stages +
         R"({"use": "augment.to_float"}, {"use": "collate.stack"}, {"use": "copy.device"}],
      "train": {"kind": "emulated"}})";
}

CommandResult run_prepare(std::vector<std::string> arguments, const std::string& pipeline) {
  std::vector<std::string> words{"prepare", "--pipeline", "-"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_tool(words, pipeline);
}

}  // namespace

TEST_CASE("a data set is written, and its pipeline runs") {
  const TemporaryFolder folder;
  const std::string out = folder.path("out");
  const auto result = run_prepare({"--out", out, "--after", "decode", "--json", folder.path("j")},
                                  digits_pipeline(folder));
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(has(result.out, "Wrote 200 samples after 'decode' (none)"));
  CHECK(has(result.out, "cachebisect --pipeline " + out + "/pipeline.json"));
  const json table = json::parse(read_file(folder.path("j")));
  CHECK(table["written"]["samples"] == 200);
  CHECK(table["places"].size() == 3);
  const auto check = run_tool({"check", "--pipeline", out + "/pipeline.json", "--sample"});
  CAPTURE(check.err);
  CHECK(check.exit_code == 0);
  CHECK(has(check.out, "read.shards"));
  const auto again = run_prepare({"--out", out, "--after", "decode"}, digits_pipeline(folder));
  CHECK(has(again.out, "There were 200 samples"));
}

TEST_CASE("a dry run says what would gain, and writes nothing") {
  const TemporaryFolder folder;
  const auto result = run_prepare({"--out", folder.path("out"), "--dry-run", "--json", "-"},
                                  digits_pipeline(folder));
  REQUIRE(result.exit_code == 0);
  CHECK(json::parse(result.out)["written"].is_null());
  CHECK_FALSE(std::filesystem::exists(folder.path("out")));
}

TEST_CASE("what cannot be prepared is refused, with the place and the remedy") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::vector<std::string>& arguments) {
    const auto result = run_prepare(
        arguments, digits_pipeline(folder, 20, R"({"use": "augment.horizontal_flip"},)"));
    CHECK(result.exit_code == 2);
    CHECK(result.out.empty());
    return result.err;
  };
  const std::string out = folder.path("out");
  CHECK(has(refused({}), "--out FOLDER"));
  CHECK(has(refused({"--out", out, "--after", "decod"}), "did you mean \"decode\""));
  CHECK(has(refused({"--out", out, "--after", "to_float"}), "draws random numbers"));
  CHECK(has(refused({"--out", out, "--codec", "gzip"}), "none, lz4 or zstd:LEVEL"));
  CHECK(has(refused({"--out", out, "--shard-size", "0"}), "--shard-size"));
  CHECK(has(refused({"--out", out, "--shard-size", "5%"}), "--shard-size"));
  CHECK(has(refused({"--out", out, "--allow", "anything"}), "semantic"));
  folder.write("theirs/file", std::string("x"));
  CHECK(has(refused({"--out", folder.path("theirs"), "--after", "decode"}), "holds other files"));
  CHECK_FALSE(std::filesystem::exists(out));
}

TEST_CASE("Ctrl-C leaves whole shards, and the same command goes on") {
  const TemporaryFolder folder;
  const std::string out = folder.path("out");
  const std::string pipeline = digits_pipeline(folder, 20'000);
  const std::vector<std::string> words{"prepare", "--pipeline",   "-",      "--out",
                                       out,       "--after",      "decode", "--codec",
                                       "none",    "--shard-size", "40000"};
  const auto interrupted = run_tool(words, pipeline, [&](pid_t child, const std::string&) {
    for (int i = 0; i < 6000 && !std::filesystem::exists(out + "/shard-00002.cbs"); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    kill(child, SIGINT);
  });
  // It may have been through by then.
  CHECK((interrupted.exit_code == 130 || interrupted.exit_code == 0));
  const auto resumed = run_tool(words, pipeline);
  CAPTURE(resumed.err);
  REQUIRE(resumed.exit_code == 0);
  CHECK(has(resumed.out, "20,000 samples"));
  CHECK(json::parse(read_file(out + "/index.json"))["source_samples"] == 20'000);
  for (const auto& entry : std::filesystem::directory_iterator(out)) {
    CHECK_FALSE(has(entry.path().string(), ".partial"));
  }
}

TEST_CASE("a limit of the system on files is told with its remedy, and no half file is left") {
  const TemporaryFolder folder;
  folder.write("p.json", digits_pipeline(folder, 2000));
  const std::string tool = CACHEBISECT_BINARY_DIR "/bin/cachebisect";
  const std::string out = folder.path("out");
  const auto shell = [&](const std::string& command) { return run({"bash", "-c", command}); };
  const std::string prepare = tool + " prepare --pipeline " + folder.path("p.json") + " --out " +
                              out + " --after decode --codec none";
  REQUIRE(run_tool({"check", "--pipeline", folder.path("p.json")}).exit_code == 0);
  // 1,024 bytes each: the first shard does not fit.
  const auto full = shell("ulimit -f 100; " + prepare);
  CHECK(full.exit_code == 6);
  CHECK(has(full.err, "cannot be written"));
  CHECK(has(full.err, "the same command goes on from there"));
  for (const auto& entry : std::filesystem::directory_iterator(out)) {
    CHECK_FALSE(has(entry.path().string(), ".partial"));
  }
  REQUIRE(shell(prepare + " --shard-size 9000").exit_code == 0);
  // UBSan opens a pipe before it looks at an object.
  if (kIsSanitized) return;
  const auto many = shell("ulimit -n 64; " + tool + " check --pipeline " + out + "/pipeline.json");
  CHECK(many.exit_code == 3);
  CHECK(has(many.err, "ulimit -n"));
}
