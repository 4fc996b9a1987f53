// Stages and training steps of a plugin that throw in the middle of a run: the error names them,
// and what was measured by then is reported.
#include <string>

#include "cli/starved_run.hpp"
#include "support/command.hpp"
#include "support/files.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace cachebisect::test;
using nlohmann::json;

namespace {

struct Chain {
  std::string source = R"({"use": "synthetic.read", "bytes": 64, "samples": 100000})";
  std::string stage = R"({"use": "synthetic.wait", "us": 50})";
  std::string device = "emulated";
  std::string train = R"({"kind": "emulated"})";
};

/// A stage or step that throws once the file "now" exists.
std::string failing(const std::string& use, const TemporaryFolder& folder,
                    const std::string& thrown) {
  return R"({"use": ")" + use + R"(", "once_exists": ")" + folder.path("now") +
         R"(", "throws": ")" + thrown + R"("})";
}

struct Failed {
  CommandResult result;
  json report;
};

/// Makes the file "now" in the second round; the report of the rounds before must be there.
Failed run_to_fault(const TemporaryFolder& folder, const Chain& chain) {
  const std::string file = folder.write(
      "p.json", R"({"batch_size": 16, "workers": 1, "stages": [)" + chain.source + "," +
                    chain.stage + R"(, {"use": "collate.stack"}, {"use": "copy.device"}],
                    "train": )" +
                    chain.train + R"(, "device": ")" + chain.device +
                    R"(", "emulate": {"step_ms": 1}})");
  auto words = undecided_run(file, folder.path("report.json"), "600", "0.1%");
  words.insert(words.end(), {"--plugin", CACHEBISECT_BINARY_DIR "/tests/plugins/libfailing.so"});
  Failed failed{run_tool(words, "",
                         [&](pid_t, const std::string& log) {
                           await_second_super_round(log);
                           folder.write("now", "");
                         }),
                {}};
  const std::string text = read_file(folder.path("report.json"));
  REQUIRE_MESSAGE(json::accept(text), failed.result.err);
  failed.report = json::parse(text);
  return failed;
}

void check_kept(const Failed& failed, const std::string& says) {
  CHECK(failed.result.exit_code == 3);
  CHECK(has(failed.result.err, says));
  CHECK(failed.report["verdict"]["rounds"].get<int>() > 0);
  const json& warning = failed.report["warnings"].back();
  CHECK(warning["code"] == "run_failed");
  CHECK(has(warning["text"].get<std::string>(), says));
  CHECK(has(failed.result.out, "The run ended early"));
}

}  // namespace

TEST_CASE("a stage that throws what is no std::exception keeps the report") {
  const TemporaryFolder folder;
  const Failed failed =
      run_to_fault(folder, {.stage = failing("test.failing", folder, "own_type")});
  check_kept(failed, "stage 'failing' (test.failing)");
  CHECK(has(failed.result.err, "OwnType was thrown, which is not a std::exception"));
}

TEST_CASE("memory that runs out in a stage keeps the report") {
  const TemporaryFolder folder;
  const Failed failed =
      run_to_fault(folder, {.stage = failing("test.failing", folder, "bad_alloc")});
  check_kept(failed, "stage 'failing' (test.failing)");
  CHECK(has(failed.result.err, "no memory left"));
}

TEST_CASE("memory that runs out in the training step keeps the report") {
  const TemporaryFolder folder;
  const Failed failed = run_to_fault(
      folder, {.device = "cpu", .train = failing("test.failing_step", folder, "bad_alloc")});
  check_kept(failed, "training step 'failing'");
  CHECK(has(failed.result.err, "no memory left"));
}

TEST_CASE("memory that runs out while a source names its files keeps the report") {
  const TemporaryFolder folder;
  const Failed failed =
      run_to_fault(folder, {.source = failing("read.failing", folder, "bad_alloc")});
  check_kept(failed, "stage 'read' (read.failing)");
  CHECK(has(failed.result.err, "no memory left"));
}
