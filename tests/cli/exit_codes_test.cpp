#include <string>

#include "cli/starved_run.hpp"
#include "support/command.hpp"
#include "support/files.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect::test;

TEST_CASE("help, version and schemas are printed on standard output") {
  for (const char* const flag : {"--help", "--version"}) {
    const auto result = run_tool({flag});
    CHECK(result.exit_code == 0);
    CHECK(has(result.out, "cachebisect"));
    CHECK(result.err.empty());
  }
  CHECK(has(run_tool({"schema", "report"}).out, "\"verdict\""));
  CHECK(has(run_tool({"schema", "pipeline"}).out, "read.cifar10"));
}

TEST_CASE("a usage error is exit 2 and names the place") {
  CHECK(run_tool({"--no-such-option"}).exit_code == 2);
  CHECK(run_tool({"schema", "nothing"}).exit_code == 2);
  const auto nothing = run_tool({});
  CHECK(nothing.exit_code == 2);
  CHECK(has(nothing.err, "--pipeline"));
  CHECK(nothing.out.empty());
  const auto missing = run_tool({"--pipeline", "/nonexistent/file.json"});
  CHECK(missing.exit_code == 2);
  CHECK(has(missing.err, "/nonexistent/file.json"));
}

TEST_CASE("an option out of range is exit 2 and names what is allowed") {
  const TemporaryFolder folder;
  const std::string file = folder.write("p.json", starved_pipeline());
  const auto refused = [&](const std::string& option, const std::string& value,
                           const std::string& says) {
    const auto result = run_tool({"--pipeline", file, option, value});
    CAPTURE(option);
    CAPTURE(value);
    CHECK(result.exit_code == 2);
    CHECK(has(result.err, says));
    CHECK(result.out.empty());
  };
  refused("--min-drop", "150%", "percentage");
  refused("--confidence", "1.5", "0.99");
  refused("--budget", "0", "greater than 0");
  refused("--io", "lukewarm", "as-is");
  refused("--nonce", "9007199254740993", "0 to 9007199254740992");
  refused("--nonce", "-1", "nonce");
  refused("--fail-on", "dorp", "inconclusive");
  for (const char* const amount : {"0", "-98", "nan", "inf"}) {
    refused("--cost-per-hour", amount, "an amount greater than 0");
  }
  refused("--workers", "-3", "workers");
  refused("--workers", "many", "workers");
  refused("--batch-size", "0", "batch_size");
  refused("--set", "nonsense", "PATH=VALUE");
  refused("--set", "stages.slwo.us=3", "slow");
  refused("--set", "stages.slow.su=3", "us");
  refused("--device", "gpu", "emulated");
  refused("--color", "sometimes", "never");
  refused("--log-level", "loud", "debug");
  refused("--plugin", "/nonexistent/libmine.so", "libmine.so");
  refused("--cache-host", "plenty", "percentage");
}

TEST_CASE("batches that do not fit into memory are exit 2 before any of it is touched") {
  // As images of 224 x 224 floats; more than any machine has.
  for (const char* const workers : {"2", "auto"}) {
    const auto result = run_tool({"--pipeline", "-", "--workers", workers}, R"({
      "batch_size": 1000000, "stages": [
      {"use": "synthetic.read", "bytes": 602112, "samples": 10000000}, {"use": "collate.stack"},
      {"use": "copy.device"}], "train": {"kind": "emulated"}, "device": "emulated"})");
    CHECK(result.exit_code == 2);
    CHECK(has(result.err, "of 1,000,000 samples take "));
    CHECK(has(result.err, "(602 kB per sample)"));
    CHECK(has(result.err, "lower batch_size to "));
    CHECK(result.out.empty());
  }
}

TEST_CASE("a missing CUDA device is exit 4 and names what was found") {
  const TemporaryFolder folder;
  const std::string file = folder.write("p.json", starved_pipeline());
  const auto result = run_tool({"--pipeline", file, "--device", "cuda:63"});
  CHECK(result.exit_code == 4);
  CHECK(has(result.err, "CUDA"));
}

TEST_CASE("an output that cannot be written is exit 6 before anything is measured") {
  const TemporaryFolder folder;
  const std::string file = folder.write("p.json", starved_pipeline());
  const auto missing = run_tool({"--pipeline", file, "--json", folder.path("none/report.json")});
  CHECK(missing.exit_code == 6);
  CHECK(has(missing.err, "mkdir"));
  CHECK(missing.out.empty());
  CHECK(run_tool({"--pipeline", file, "--json", folder.path()}).exit_code == 6);
}

TEST_CASE("missing data is exit 3 and names the path") {
  const auto result = run_tool({"--pipeline", "-"}, R"({
    "stages": [{"use": "read.cifar10", "path": "/nonexistent/cifar"}, {"use": "decode.cifar"},
               {"use": "collate.stack"}, {"use": "copy.device"}],
    "train": {"kind": "emulated"}, "device": "emulated"})");
  CHECK(result.exit_code == 3);
  CHECK(has(result.err, "/nonexistent/cifar"));
}
