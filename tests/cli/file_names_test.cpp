// File names are bytes: all of them work, and none of them is a command to the terminal.
#include <algorithm>
#include <filesystem>
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

const std::string kEscape =
    "\x1b]0;title\x07\x1b[31m\xc2\x9b"
    "5m";
const std::string kEscaped = "\\x1b]0;title\\x07\\x1b[31m\\xc2\\x9b5m";

/// No control character but line breaks.
bool is_plain(const std::string& text) {
  const bool c1 = has(text, "\xc2\x9b");
  return !c1 && std::ranges::all_of(text, [](char c) {
    return c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  });
}

std::string cifar_pipeline(const std::string& path) {
  return R"({"batch_size": 16, "workers": 1, "stages": [
    {"use": "read.cifar10", "path": ")" +
         path + R"("}, {"use": "decode.cifar"}, {"use": "synthetic.wait", "us": 100},
    {"use": "collate.stack"}, {"use": "copy.device"}],
    "train": {"kind": "emulated"}, "device": "emulated", "emulate": {"step_ms": 1}})";
}

std::string cifar_records(std::size_t count) { return std::string(count * 3073, '\0'); }

}  // namespace

TEST_CASE("data in a folder whose name is not UTF-8 is read, also by what-ifs that are run") {
  const TemporaryFolder folder;
  const std::string name = "caf\xe9-\xff";
  folder.write(name + "/data/data_batch_1.bin", cifar_records(2000));
  const std::string file = folder.write(name + "/p.json", cifar_pipeline("data/data_batch_1.bin"));
  const auto result = run_tool({"--pipeline", file, "--budget", "6", "--quick", "--what-if",
                                "workers=2", "--verify", "--out", folder.path()});
  REQUIRE_MESSAGE(result.exit_code == 0, result.err);
  const std::string text = read_file(folder.path("report.json"));
  REQUIRE(json::accept(text));  // which refuses what is not UTF-8
  const json what_if = json::parse(text)["what_ifs"][0];
  CAPTURE(what_if.dump());
  const bool ran = what_if["measured"]["samples_per_second"].is_number() ||
                   has(what_if["note"].get<std::string>(), "budget");
  CHECK(ran);
  CHECK(has(result.out, "caf\\xe9-\\xff"));
}

TEST_CASE("a path that is not UTF-8 can be given as an option") {
  const TemporaryFolder folder;
  const std::string data = folder.write("\xff/data_batch_1.bin", cifar_records(100));
  const auto result = run_tool({"check", "--pipeline", "-", "--sample", "--set",
                                "stages.read.path=" + data, "--set", "batch_size=4"},
                               cifar_pipeline("/nowhere"));
  CHECK_MESSAGE(result.exit_code == 0, result.err);
  CHECK(has(result.out, "100 samples"));
}

TEST_CASE("escape sequences in the names of data do not reach the terminal") {
  const TemporaryFolder folder;
  folder.write("cat/" + kEscape + ".png", std::string("not a PNG file"));
  const auto result =
      run_tool({"--pipeline", "-", "--budget", "1"}, R"({
    "batch_size": 1, "workers": 1, "stages": [
    {"use": "read.image_folder", "path": ")" + folder.path() +
                                                         R"("}, {"use": "decode.image"},
    {"use": "augment.resize", "size": 8}, {"use": "collate.stack"}, {"use": "copy.device"}],
    "train": {"kind": "emulated"}, "device": "emulated"})");
  CHECK(result.exit_code == 3);
  CHECK(has(result.err, kEscaped));
  CHECK(is_plain(result.err));
  CHECK(is_plain(result.out));
}

TEST_CASE("escape sequences on the command line do not reach the terminal") {
  for (const auto& words : {std::vector<std::string>{"--pipeline", "/no/" + kEscape},
                            {"--" + kEscape},
                            {"--json", "/no/" + kEscape + "/report.json"},
                            {"--pipeline", "/no/file", "--set", kEscape + "=1"}}) {
    const auto result = run_tool(words);
    CAPTURE(result.err);
    CHECK(result.exit_code != 0);
    CHECK(is_plain(result.err));
  }
}

TEST_CASE("escape sequences in the report's own names do not reach the terminal") {
  const TemporaryFolder folder;
  const std::string file = folder.write(kEscape + "/p.json", starved_pipeline());
  const std::string report = folder.path(kEscape + "/report.json");
  const auto result =
      run_tool({"--pipeline", file, "--budget", "0.5", "--no-explain", "--json", report});
  CHECK(result.exit_code == 0);
  CHECK(has(result.out, kEscaped + "/p.json"));
  CHECK(has(result.out, "written: "));
  CHECK(is_plain(result.out));
  const std::string text = read_file(report);
  CHECK(is_plain(text));
  CHECK(json::parse(text)["pipeline"]["file"] == file);
}
